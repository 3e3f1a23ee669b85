import { describe, expect, it } from 'vitest'
import { InvalidArgument } from '../../src/engine/errors.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { bench, database, gate, stopNow } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { virtualClock } from '../support/virtual-clock.ts'

trapUnhandledRejections()

const queues = { default: { concurrency: 5 } }

describe('resume after a restore', () => {
  it('lets workers in, gives back what ran, and fences off who held it before (28)', async () => {
    const clock = virtualClock()
    const shared = database(clock)
    const held = gate<string>()
    const fences: string[] = []
    const slow = defineJob<null, null, string>({
      name: 'slow',
      run: ({ attempt }) => {
        fences.push(attempt.fence)
        return fences.length === 1 ? held.promise : 'anew'
      },
    })
    const before = bench({ clock, database: shared, jobs: [slow], queues })
    await before.engine.start()
    await before.engine.enqueue(slow, null, { id: 'a' })
    await clock.advance(1_000)
    const backup = await shared.raw.snapshot()
    await clock.advance(5_000)
    await shared.raw.restore(backup)
    await shared.raw.control.set({ hold: true })
    const after = bench({ clock, database: shared, jobs: [slow], queues })
    await after.engine.start()
    expect(await after.engine.resume({ restored: true })).toEqual({ hold: false, paused: [] })
    await clock.advance(30_000)
    expect(await shared.job('a')).toMatchObject({
      state: 'succeeded',
      result: '"anew"',
      evictions: 0,
      failures: 0,
    })
    held.open('stale')
    await clock.advance(30_000)
    // Seconds of the database's clock: no number that a backup knows.
    const epoch = Math.floor((shared.nowMs() - 60_000) / 1_000) * 1_000_000 + 1
    expect(await shared.job('a')).toMatchObject({ result: '"anew"', epoch, attempt: 2 })
    expect(fences.toSorted()).toEqual(fences)
    await stopNow(before)
    await stopNow(after)
  })

  it('is one timeline more, whatever becomes of its first reply', async () => {
    const b = bench()
    b.wire.next('control.restored', 'lose-reply')
    const resumed = b.engine.resume({ restored: true })
    await b.clock.advance(1_000)
    expect(await resumed).toEqual({ hold: false, paused: [] })
    const { timeline } = await b.database.raw.dump()
    expect(timeline).toBe(Math.floor((b.database.nowMs() - 1_000) / 1_000))
    await b.engine.resume()
    expect((await b.database.raw.dump()).timeline).toBe(timeline)
  })

  it('of one backup, twice, gives out no fence twice (0.13)', async () => {
    const fences: string[] = []
    const job = defineJob({ name: 'job', run: ({ attempt }) => void fences.push(attempt.fence) })
    const b = bench({ jobs: [job], queues })
    await b.engine.enqueue(job, null, { id: 'a' })
    const backup = await b.database.raw.snapshot()
    await b.engine.start()
    for (let restores = 0; restores < 2; restores++) {
      await b.clock.advance(5_000)
      await b.database.raw.restore(backup)
      await b.engine.resume({ restored: true })
      await b.clock.advance(30_000)
    }
    expect(new Set(fences).size).toBe(3)
    await stopNow(b)
  })

  it('refuses what is neither true nor false', async () => {
    const b = bench()
    await expect(b.engine.resume({ restored: 'yes' as never })).rejects.toThrow(InvalidArgument)
  })
})
