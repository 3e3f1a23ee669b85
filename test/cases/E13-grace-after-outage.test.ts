import { describe, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { failure, never } from '../support/bench.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, stores } from './support.ts'

trapUnhandledRejections()

const leaseMs = 30_000
const [workers, dead] = [20, 5]
const long = defineJob({ name: 'long', timeoutMs: 86_400_000, run: () => never() })

describe.each(stores)('E13 on %s: after an outage nobody is evicted for silence', (_name, open) => {
  test.each([
    ['one that swept before it', false],
    ['one that starts fresh after it', true],
  ])(
    '20 workers, 10 leases without a store, then a sweeper first (%s): no reclaim but of the dead, after a whole lease',
    async (_what, fresh) => {
      const all = fleet(open)
      const { clock, database } = all
      const processes = Array.from({ length: workers }, () =>
        all.process({ jobs: [long], queues: { default: { concurrency: 1 } } }),
      )
      const [before] = fresh ? [null] : [await all.sweeper()]
      for (const [n, { engine }] of processes.entries()) {
        await engine.start()
        await engine.enqueue(long, null, { id: `j${n}` })
        await clock.settle()
      }
      await clock.advance(60_000)
      for (const { wire } of [...processes, ...(before ? [before] : [])]) wire.down('lose-request')
      await clock.advance(10 * leaseMs)
      const upAtMs = clock.nowMs
      const sweeper = before ?? (await all.sweeper())
      sweeper.wire.up()
      // The sweeper has the store to itself, nearly as long as a lease; all the leases lapsed long ago.
      await clock.advance(leaseMs - 2_000)
      expect(sweeper.wire.sent('jobs.reclaim').length).toBeGreaterThan(3)
      const evictions = async (): Promise<number[]> =>
        Promise.all(processes.map(async (_process, n) => (await database.job(`j${n}`)).evictions))
      expect(await evictions()).toEqual(processes.map(() => 0))
      for (const { wire } of processes.slice(dead)) wire.up()
      await clock.advance(20_000)
      // Who answered again keeps its job, at its first attempt; who did not is dead.
      expect(await evictions()).toEqual(processes.map((_process, n) => (n < dead ? 1 : 0)))
      for (let n = dead; n < workers; n++) {
        expect(await database.job(`j${n}`)).toMatchObject({ state: 'running', attempt: 1 })
      }
      expect(clock.nowMs - upAtMs).toBeLessThanOrEqual(leaseMs + 2 * 5_000 + 5_000 + 5_000)
      await all.stop()
    },
  )

  test('intervals that leave no margin are refused at the start and at enqueue, with both numbers named', async () => {
    const all = fleet(open)
    const slow = { sweepMs: 8_000 }
    const refused = /leaseTtlMs 30000 must be over 35000 .*sweepMs 8000/
    const make = (): unknown =>
      createEngine({ store: all.database.raw, jobs: [long], intervals: slow, queues: {} })
    expect(make).toThrow(refused)
    const { engine } = all.process({ intervals: slow })
    expect(await failure(engine.enqueue(long, null))).toMatchObject({ code: 'INVALID_CONFIG' })
    expect(String(await failure(engine.enqueue(long, null)))).toMatch(refused)
  })

  test('a heartbeat of half a lease or more cannot be had: a lease is renewed at a third of it', async () => {
    const all = fleet(open)
    const a = all.process({ jobs: [long], intervals: { heartbeatMs: 29_000 } })
    await a.engine.start()
    await a.engine.enqueue(long, null)
    await all.clock.advance(31_000)
    const beats = a.wire.calls.filter(({ call }) => call === 'claims.renew').map(({ atMs }) => atMs)
    expect(beats).toEqual([10_000, 20_000, 30_000])
    await all.stop()
  })
})
