import { describe, expect, test } from 'vitest'
import type { ClaimParams } from '../../src/engine/ports/store.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, gated, states, stores } from './support.ts'

trapUnhandledRejections()

describe.each(stores)('E04 on %s: a slot is given once', (_name, open) => {
  test('however often its lease is lost and its handler returns late, never two run, and all slots come back', async () => {
    const all = fleet(open)
    const { clock, database } = all
    let [running, most] = [0, 0]
    const work = gated({ retry: { maxEvictions: 99, backoff: { kind: 'constant', delayMs: 0 } } })
    const counted = {
      ...work.job,
      run: async (context: never): Promise<unknown> => {
        most = Math.max(most, ++running)
        return Promise.resolve(work.job.run(context)).finally(() => (running -= 1))
      },
    }
    const a = all.process({ jobs: [counted], queues: { default: { concurrency: 1 } } })
    await all.sweeper()
    await a.engine.start()
    await a.engine.enqueueMany(
      Array.from({ length: 5 }, (_, k) => ({ job: work.job, input: null, id: `j${k}` })),
    )
    await clock.settle()
    const slots = (): number | undefined => a.engine.health().running?.worker.slotsUsed
    for (let round = 0; round < 10; round++) {
      expect(work.starts).toHaveLength(round + 1)
      a.wire.down('lose-request')
      await clock.advance(40_000)
      a.wire.up()
      await clock.advance(10_000)
      // It lost the job, which is claimable again; but its handler has not returned.
      expect(a.of('attempt.lost')).toHaveLength(round + 1)
      expect(await states(database)).toEqual({ queued: 5 })
      expect(slots()).toBe(1)
      work.gates[round]?.open('stale')
      await clock.advance(0)
    }
    for (let k = 10; k < 15; k++) {
      work.gates[k]?.open('kept')
      await clock.advance(0)
    }
    expect(most).toBe(1)
    expect(await states(database)).toEqual({ succeeded: 5 })
    expect(slots()).toBe(0)
    expect((a.wire.sent('claims.claim') as ClaimParams[]).map(({ limit }) => limit)).not.toContain(2)
    const claims = a.wire.sent('claims.claim').length
    await a.engine.enqueue(work.job, null)
    await clock.advance(0)
    expect((a.wire.sent('claims.claim') as ClaimParams[])[claims]).toMatchObject({ limit: 1 })
    await all.stop()
  })
})
