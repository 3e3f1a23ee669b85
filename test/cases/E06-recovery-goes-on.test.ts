import { describe, expect, test } from 'vitest'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { claimed, fleet, gated, states, stores } from './support.ts'

trapUnhandledRejections()

const jobs = 250
const [batch, sweepMs] = [100, 5_000]

describe.each(stores)('E06 on %s: recovery that is interrupted goes on', (_name, open) => {
  describe.each(['lose-request', 'lose-reply'] as const)('the connection dies (%s)', (fate) => {
    test.each([0, 1, 124, 249])('at the reclaim of job %d of 250', async (k) => {
      const all = fleet(open)
      const { clock, database } = all
      // Bare, so that its calls can be made to die; nothing here is repeated within a call anyway.
      const sweeper = all.process({ queues: {}, bare: true })
      await sweeper.engine.start()
      const { job } = gated()
      await sweeper.engine.enqueueMany(
        Array.from({ length: jobs }, (_, n) => ({ job, input: null, id: `j${n}` })),
      )
      for (let n = 0; n < jobs; n++) await claimed(database.raw, { token: `dead.${n}` })
      await clock.advance(29_000)
      let calls = 0
      const { reclaim } = sweeper.wire.store.jobs
      const dying: typeof reclaim = (params) => {
        // One call takes back up to a batch: the one that has the k-th job in it is the last for 2 s.
        if (calls++ !== Math.floor(k / batch)) return reclaim(params)
        sweeper.wire.next('jobs.reclaim', fate)
        const last = reclaim(params)
        sweeper.wire.down('refuse')
        return last
      }
      Object.assign(sweeper.wire.store.jobs, { reclaim: dying })
      await clock.advance(1_000)
      const landed = Math.floor(k / batch) + (fate === 'lose-reply' ? 1 : 0)
      expect((await states(database))['running'] ?? 0).toBe(jobs - Math.min(jobs, landed * batch))
      await clock.advance(2_000)
      sweeper.wire.up()
      await clock.advance(sweepMs)
      expect(await states(database)).toEqual({ queued: jobs })
      const { sweep } = sweeper.engine.health().running ?? {}
      expect(sweep).toMatchObject({ failures: 1, sweeping: false })
      expect(await claimed(database.raw, { token: 'alive', limit: jobs })).toHaveLength(jobs)
      const turns = sweep?.turns ?? 0
      await clock.advance(sweepMs)
      expect(sweeper.engine.health().running?.sweep).toMatchObject({ turns: turns + 1, failures: 1 })
      await all.stop()
    })
  })
})
