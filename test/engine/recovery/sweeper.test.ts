import { describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { type Bench, bench, never, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'
import { unlease } from '../../support/unlease.ts'

trapUnhandledRejections()

const job = defineJob({ name: 'job', retry: { backoff: { kind: 'constant', delayMs: 0 } } })
const times = ({ wire }: Bench, call: string): number[] =>
  wire.calls.filter((seen) => seen.call === call).map(({ atMs }) => atMs)

/** Jobs that a worker claimed before it died, one claim each. */
async function orphans({ engine, database }: Bench, count: number): Promise<void> {
  await engine.enqueueMany(Array.from({ length: count }, (_, k) => ({ job, input: null, id: `j${k}` })))
  const queues = [{ queue: 'default', limit: 1 }]
  for (let k = 0; k < count; k++)
    await database.raw.claims.claim({
      token: `dead.${k}`,
      worker: 'dead',
      limit: 1,
      queues,
      kinds: ['job'],
      solo: 'take',
    })
}

async function queued({ database }: Bench): Promise<number> {
  return (await database.raw.dump()).jobs.filter(({ state }) => state === 'queued').length
}

describe('the sweeper', () => {
  it('moves the watch every 5 s, and reclaims only after that (0.20)', async () => {
    const b = bench()
    await b.engine.start()
    await orphans(b, 1)
    await b.clock.advance(30_000)
    expect(times(b, 'watch.move')).toEqual([0, 5_000, 10_000, 15_000, 20_000, 25_000, 30_000])
    const [before, last] = b.wire.calls.slice(-2)
    expect([before?.call, last?.call, last?.atMs]).toEqual(['watch.move', 'jobs.reclaim', 30_000])
    await b.engine.stop()
    expect(b.clock.armed).toEqual([])
  })

  it('asks for a reclaim only where a lease is silent: an idle turn is one statement (0.20)', async () => {
    const b = bench()
    await b.engine.start()
    await orphans(b, 1)
    await b.clock.advance(29_999)
    expect(times(b, 'jobs.reclaim')).toEqual([])
    await b.clock.advance(60_001)
    expect(times(b, 'jobs.reclaim')).toEqual([30_000])
    await b.engine.stop()
  })

  it('brings back the jobs of a dead worker within its lease and a sweep, and no earlier (0.20, 4.14)', async () => {
    const b = bench()
    await b.engine.start()
    await orphans(b, 3)
    await b.clock.advance(29_999)
    expect(await queued(b)).toBe(0)
    await b.clock.advance(5_001)
    expect(await queued(b)).toBe(3)
    expect(await b.database.job('j0')).toMatchObject({ epoch: 2, evictions: 1, failures: 0 })
    await b.engine.stop()
  })

  it('goes on moving the watch on its own timer while a sweep hangs (0.20)', async () => {
    const b = bench({ bare: true })
    b.wire.next('jobs.reclaim', 'hang')
    await b.engine.start()
    await orphans(b, 2)
    await b.clock.advance(45_000)
    expect(times(b, 'watch.move').slice(-4)).toEqual([30_000, 35_000, 40_000, 45_000])
    expect(times(b, 'jobs.reclaim')).toEqual([30_000])
    expect(b.engine.health().running?.sweep).toMatchObject({ turns: 10, failures: 0, sweeping: true })
    b.wire.letGo()
    await orphans(b, 3)
    await b.clock.advance(30_000)
    expect(times(b, 'jobs.reclaim')).toEqual([30_000, 75_000])
    await b.engine.stop()
  })

  it('does not reclaim in a turn whose move of the watch failed', async () => {
    const b = bench({ bare: true })
    await b.engine.start()
    await orphans(b, 1)
    await b.clock.advance(29_000)
    b.wire.next('watch.move', 'lose-reply', 'refuse')
    await b.clock.advance(11_000)
    expect(times(b, 'jobs.reclaim')).toEqual([40_000])
    expect(b.engine.health().running?.sweep).toMatchObject({ turns: 9, failures: 2 })
    await b.engine.stop()
  })

  it.each([0, 1, 2])(
    'loses nothing when the store dies after batch %d of a sweep, and counts each failed turn once (E06)',
    async (after) => {
      const b = bench({ bare: true })
      await b.engine.start()
      await orphans(b, 250)
      await b.clock.advance(29_000)
      const { reclaim } = b.wire.store.jobs
      let calls = 0
      Object.assign(b.wire.store.jobs, {
        reclaim: (params: { limit: number }) => {
          if (calls++ === after) b.wire.down('lose-request')
          return reclaim(params)
        },
      })
      await b.clock.advance(1_000)
      expect(await queued(b)).toBe(Math.min(250, 100 * after))
      await b.clock.advance(1_000)
      b.wire.up()
      await b.clock.advance(4_000)
      expect(await queued(b)).toBe(250)
      expect(b.engine.health().running?.sweep).toMatchObject({ failures: 1, sweeping: false })
      await b.engine.stop()
    },
  )

  it('takes nothing for one lease after an outage, and then what is really dead (0.20, E13)', async () => {
    const b = bench()
    await b.engine.start()
    await b.clock.advance(60_000)
    await orphans(b, 2)
    b.wire.down('lose-request')
    await b.clock.advance(300_000)
    b.wire.up()
    const upAtMs = b.clock.nowMs
    await b.clock.advance(29_000)
    expect(await queued(b)).toBe(0)
    await b.clock.advance(13_000)
    expect(await queued(b)).toBe(2)
    expect(b.clock.nowMs - upAtMs).toBeLessThanOrEqual(30_000 + 2 * 5_000 + 5_000)
    await b.engine.stop()
  })

  it('has a move that lands too late refused, so that it cannot hide an outage (0.20)', async () => {
    const b = bench({ bare: true })
    await b.engine.start()
    await b.clock.advance(12_000)
    b.wire.next('watch.move', 'hang')
    await b.clock.advance(3_000)
    expect(b.wire.hanging).toBe(1)
    // Everything stands still for a minute with the move under way.
    await b.clock.freeze(60_000)
    const before = (await b.database.raw.dump()).watch
    b.wire.letGo()
    await b.clock.settle()
    const after = (await b.database.raw.dump()).watch
    expect(after?.seenSinceMs).toBe(before?.seenSinceMs)
    await b.engine.stop()
  })

  it('charges a job that ran over its timeout on a worker that does not enforce it', async () => {
    const b = bench()
    await b.engine.start()
    const quick = defineJob({ name: 'job', timeoutMs: 10_000 })
    await b.engine.enqueue(quick, null, { id: 'x' })
    const queues = [{ queue: 'default', limit: 1 }]
    await b.database.raw.claims.claim({
      token: 't',
      worker: 'w',
      limit: 1,
      queues,
      kinds: ['job'],
      solo: 'take',
    })
    for (let k = 0; k < 4; k++) {
      await b.clock.advance(15_000)
      await b.database.raw.claims.renew({ worker: 'w', tokens: ['t'] })
    }
    expect(await b.database.job('x')).toMatchObject({ state: 'queued', failures: 1, evictions: 0, epoch: 2 })
    await b.engine.stop()
  })

  it('keeps up with the claim rows that are spent, however many there are', async () => {
    const b = bench({ jobs: [job.handle(() => {})], queues: { default: { concurrency: 1 } } })
    await b.engine.start()
    await b.engine.enqueueMany(Array.from({ length: 350 }, () => ({ job, input: null })))
    await b.clock.advance(24_000)
    expect((await b.database.raw.dump()).claims).toHaveLength(350)
    await b.clock.advance(2_000)
    expect((await b.database.raw.dump()).claims).toHaveLength(0)
    await b.engine.stop()
  })

  it('wakes its own worker when jobs came back', async () => {
    const ran: string[] = []
    const again = job.handle(({ job: { id } }) => void ran.push(id))
    const b = bench({ jobs: [again], queues: { default: { concurrency: 5 } } })
    const producer = bench({ clock: b.clock, database: b.database })
    await b.engine.start()
    await b.clock.advance(63_500)
    await orphans(producer, 1)
    await b.clock.advance(30_000)
    expect(ran).toEqual([])
    await b.clock.advance(5_000)
    expect(ran).toEqual(['j0'])
    await b.engine.stop()
  })

  it('leaves alone what a healthy worker holds, for days', async () => {
    const b = bench({
      jobs: [defineJob({ name: 'job', timeoutMs: 8_640_000_000, run: () => never() })],
      queues: { default: { concurrency: 1 } },
    })
    await b.engine.start()
    await b.engine.enqueue(job, null, { id: 'x', timeoutMs: 8_640_000_000 })
    await b.clock.advance(2 * 3_600_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'running', epoch: 1, evictions: 0 })
    await stopNow(b)
  })
})

describe('running jobs without a lease', () => {
  it('come back within five minutes of a quarter of an hour after their claim, and not before (4.5, 27.7)', async () => {
    const b = bench()
    await b.engine.start()
    await b.engine.enqueue(job, null, { id: 'x', timeoutMs: 86_400_000 })
    const queues = [{ queue: 'default', limit: 1 }]
    const claim = { token: 'gone', worker: 'w', limit: 1, queues, kinds: ['job'], solo: 'take' } as const
    await b.database.raw.claims.claim(claim)
    await unlease(b.database.raw, 'gone')
    await b.clock.advance(899_999)
    expect(await b.database.job('x')).toMatchObject({ state: 'running', evictions: 0 })
    await b.clock.advance(300_001)
    expect(await b.database.job('x')).toMatchObject({ state: 'queued', epoch: 2, evictions: 1 })
    await b.engine.stop()
  })
})
