import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { type Bench, never } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { type Fleet, fleet, states, stores } from './support.ts'

trapUnhandledRejections()

/**
 * Processes under a supervisor: one that dies is replaced at once. `crashes` says at which attempts the job
 * `killer` takes its process with it; `throws` at which it throws.
 */
function supervised(all: Fleet, crashes: (attempt: number) => boolean, throws: (attempt: number) => boolean) {
  const starts: number[] = []
  const ended: string[] = []
  let processes = 0
  async function spawn(): Promise<void> {
    processes += 1
    const die = (): Promise<never> => {
      process.wire.down('lose-request')
      void spawn()
      return never()
    }
    const killer = defineJob({
      name: 'killer',
      retry: { backoff: { kind: 'constant', delayMs: 0 } },
      run: async ({ attempt, sleep }) => {
        starts.push(attempt.number)
        await sleep(100)
        if (crashes(attempt.number)) return die()
        if (throws(attempt.number)) throw new Error(`attempt ${attempt.number}`)
        return 'survived'
      },
    })
    const harmless = defineJob({
      name: 'harmless',
      run: async ({ job: { id }, sleep }) => {
        await sleep(2_000)
        if (process.engine.health().store.reachable) ended.push(id)
      },
    })
    const process: Bench = all.process({ jobs: [killer, harmless], queues: { default: { concurrency: 3 } } })
    await process.engine.start()
  }
  return { spawn, starts, ended, processes: () => processes }
}

const killer = defineJob({ name: 'killer', retry: { backoff: { kind: 'constant', delayMs: 0 } } })
const harmless = defineJob({ name: 'harmless' })

describe.each(stores)('E10 on %s: a job that kills its process', (_name, open) => {
  test('kills three, and is dead-lettered as "lease lost x3"; jobs beside and behind it go on, uncharged', async () => {
    const all = fleet(open)
    const nobody = await all.sweeper()
    const { spawn, starts, processes } = supervised(
      all,
      () => true,
      () => false,
    )
    await nobody.engine.enqueueMany([
      { job: killer, input: null, id: 'k' },
      ...Array.from({ length: 2 }, (_, n) => ({ job: harmless, input: null, id: `beside ${n}` })),
      ...Array.from({ length: 2 }, (_, n) => ({ job: harmless, input: null, id: `behind ${n}` })),
    ])
    await spawn()
    await all.clock.advance(300_000)
    expect(starts).toEqual([1, 2, 3])
    expect(processes()).toBe(4)
    expect(await all.database.job('k')).toMatchObject({
      state: 'failed',
      attempt: 3,
      failures: 0,
      evictions: 3,
      error: { code: 'LEASE_LOST', message: 'lease lost x3' },
    })
    expect(await states(all.database)).toEqual({ failed: 1, succeeded: 4 })
    // A crash charges those beside it an eviction, never a failure; and the last kill hits nobody else.
    for (const n of [0, 1]) {
      expect(await all.database.job(`beside ${n}`)).toMatchObject({ failures: 0 })
      expect((await all.database.job(`beside ${n}`)).evictions).toBeLessThan(3)
      expect(await all.database.job(`behind ${n}`)).toMatchObject({ failures: 0 })
    }
    await all.stop()
  })

  test('exactly on its last attempt is not stuck: a crash is no failure, and it is run again', async () => {
    const all = fleet(open)
    const nobody = await all.sweeper()
    const { spawn, starts } = supervised(
      all,
      (n) => n === 3,
      (n) => n < 3,
    )
    await nobody.engine.enqueue(killer, null, { id: 'k' })
    await nobody.engine.enqueue(harmless, null, { id: 'behind' })
    await spawn()
    await all.clock.advance(120_000)
    expect(starts).toEqual([1, 2, 3, 4])
    expect(await all.database.job('k')).toMatchObject({
      state: 'succeeded',
      attempt: 4,
      failures: 2,
      evictions: 1,
      result: '"survived"',
    })
    expect(await states(all.database)).toEqual({ succeeded: 2 })
    await all.stop()
  })

  test('exactly on its last attempt, and fails on the next, is dead-lettered for that failure', async () => {
    const all = fleet(open)
    const nobody = await all.sweeper()
    const { spawn, starts } = supervised(
      all,
      (n) => n === 3,
      (n) => n !== 3,
    )
    await nobody.engine.enqueue(killer, null, { id: 'k' })
    await spawn()
    await all.clock.advance(120_000)
    expect(starts).toEqual([1, 2, 3, 4])
    expect(await all.database.job('k')).toMatchObject({
      state: 'failed',
      failures: 3,
      evictions: 1,
      error: { code: 'HANDLER_ERROR', message: 'Error: attempt 4' },
    })
    await all.stop()
  })

  test('does not keep the two jobs behind it in its queue waiting, though it is first again each time', async () => {
    const all = fleet(open)
    const nobody = await all.sweeper()
    const { spawn, ended } = supervised(
      all,
      () => true,
      () => false,
    )
    await nobody.engine.enqueue(killer, null, { id: 'k', priority: 'critical' })
    await nobody.engine.enqueueMany(
      ['a', 'b'].map((id) => ({ job: harmless, input: null, id, priority: 'low' as const })),
    )
    await spawn()
    await all.clock.advance(300_000)
    expect(new Set(ended)).toEqual(new Set(['a', 'b']))
    expect(await states(all.database)).toEqual({ failed: 1, succeeded: 2 })
    await all.stop()
  })
})
