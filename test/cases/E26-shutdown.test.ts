import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { never } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, states, stores } from './support.ts'

trapUnhandledRejections()

const quick = defineJob({ name: 'quick', run: ({ sleep }) => sleep(100) })
const late = defineJob({ name: 'late', run: ({ sleep }) => sleep(5_000) })
const endless = defineJob({ name: 'endless', run: () => never() })
const jobs = [quick, late, endless]

describe.each(stores)('E26 on %s: a shutdown', (_name, open) => {
  test.each([
    ['asked for once', 1],
    ['asked for twice', 2],
  ])(
    '%s stores what ended in time, and gives back the rest, claimable at once and uncharged, before it is over',
    async (_what, times) => {
      const all = fleet(open)
      const { clock, database } = all
      const a = all.process({ jobs })
      await a.engine.start()
      const identity = a.engine.health().running?.identity
      await a.engine.enqueueMany(jobs.map((job) => ({ job, input: null, id: job.name })))
      await clock.settle()
      expect(await states(database)).toEqual({ running: 3 })
      const stops = Array.from({ length: times }, () => a.engine.stop({ drainMs: 2_000 }))
      await clock.advance(12_000)
      await Promise.all(stops)
      // Over: nothing is asked of the store any more, so that its owner may close it.
      const asked = a.wire.calls.length
      await clock.advance(600_000)
      expect(a.wire.calls).toHaveLength(asked)
      expect(clock.armed).toEqual([])
      expect((await database.job('quick')).state).toBe('succeeded')
      for (const id of ['late', 'endless']) {
        expect(await database.job(id)).toMatchObject({
          state: 'queued',
          attempt: 1,
          failures: 0,
          evictions: 0,
        })
        expect((await database.job(id)).visibleAtMs).toBeLessThanOrEqual(database.nowMs())
      }
      const { jobs: left, claims } = await database.raw.dump()
      const own = claims.filter(({ worker }) => worker === identity).map(({ token }) => token)
      expect(left.filter(({ token }) => token !== null && own.includes(token))).toEqual([])
    },
  )

  test('gives back the job of a claim that was in flight, and another takes it at once', async () => {
    const all = fleet(open)
    const ran: string[] = []
    const job = defineJob({ name: 'job', run: () => void ran.push('ran') })
    const a = all.process({ jobs: [job] })
    await a.engine.enqueue(job, null, { id: 'x' })
    a.wire.next('claims.claim', 'hang-reply')
    await a.engine.start()
    await all.clock.settle()
    expect((await all.database.job('x')).state).toBe('running')
    const stopping = a.engine.stop()
    await all.clock.settle()
    a.wire.letGo()
    await all.clock.settle()
    await stopping
    expect(ran).toEqual([])
    expect(await all.database.job('x')).toMatchObject({
      state: 'queued',
      attempt: 1,
      failures: 0,
      evictions: 0,
    })
    const b = all.process({ jobs: [job] })
    await b.engine.start()
    await all.clock.settle()
    expect(ran).toEqual(['ran'])
    await all.stop()
  })

  test('is followed by a start that works, under another identity', async () => {
    const all = fleet(open)
    const a = all.process({ jobs })
    await a.engine.start()
    const first = a.engine.health().running?.identity
    await a.engine.stop()
    await a.engine.start()
    expect(a.engine.health().running?.identity).not.toBe(first)
    await a.engine.enqueue(quick, null, { id: 'x' })
    await all.clock.advance(100)
    expect((await all.database.job('x')).state).toBe('succeeded')
    await all.stop()
  })
})
