import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { ClaimParams } from '../../src/engine/ports/store.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, states, stores } from './support.ts'

trapUnhandledRejections()

const hourMs = 3_600_000

describe.each(stores)('E15 on %s: a lease begins with the run', (_name, open) => {
  test.each(['delayMs', 'runAt'] as const)(
    'a job due in 6 h (%s) with a lease of 60 s is not claimed before, by any of 4 workers, and starts once',
    async (how) => {
      const all = fleet(open)
      const { clock, database } = all
      const starts: number[] = []
      const later = defineJob({ name: 'later', run: () => void starts.push(clock.nowMs) })
      const workers = Array.from({ length: 4 }, () => all.process({ jobs: [later] }))
      for (const { engine } of workers) await engine.start()
      const due =
        how === 'delayMs' ? { delayMs: 6 * hourMs } : { runAt: new Date(database.nowMs() + 6 * hourMs) }
      await workers[0]?.engine.enqueue(later, null, { id: 'x', leaseTtlMs: 60_000, ...due })
      for (let hour = 0; hour < 6; hour++) {
        expect(await database.job('x')).toMatchObject({ state: 'queued', attempt: 0, epoch: 0 })
        await clock.advance(hourMs - (hour === 5 ? 1 : 0))
      }
      expect(starts).toEqual([])
      await clock.advance(30_001)
      expect(starts).toHaveLength(1)
      expect(starts[0]).toBeGreaterThanOrEqual(6 * hourMs)
      expect(await database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1, evictions: 0 })
      await clock.advance(120_000)
      expect(starts).toHaveLength(1)
      await all.stop()
    },
  )

  test('of 50 jobs of 10 minutes and a concurrency of 1 never more are claimed than run', async () => {
    const all = fleet(open)
    const { clock, database } = all
    const ten = defineJob({ name: 'ten', timeoutMs: hourMs, run: ({ sleep }) => sleep(600_000) })
    const a = all.process({ jobs: [ten], queues: { default: { concurrency: 1 } } })
    await all.sweeper()
    await a.engine.start()
    await a.engine.enqueueMany(Array.from({ length: 50 }, () => ({ job: ten, input: null })))
    for (let minute = 0; minute < 35; minute++) {
      await clock.advance(60_000)
      expect((await states(database))['running']).toBe(1)
    }
    expect(await states(database)).toEqual({ succeeded: 3, running: 1, queued: 46 })
    for (const { attempt, evictions, failures } of (await database.raw.dump()).jobs) {
      expect(attempt).toBeLessThanOrEqual(1)
      expect([evictions, failures]).toEqual([0, 0])
    }
    for (const { limit } of a.wire.sent('claims.claim') as ClaimParams[]) expect(limit).toBe(1)
    await all.stop()
  })
})
