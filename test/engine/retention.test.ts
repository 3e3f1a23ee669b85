import { describe, expect, it } from 'vitest'
import { InvalidConfig } from '../../src/engine/errors.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { Metric } from '../../src/engine/metrics.ts'
import { type Bench, type BenchOptions, bench, database, never, stopNow } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { virtualClock } from '../support/virtual-clock.ts'

trapUnhandledRejections()

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const work = defineJob<number>({ name: 'work', keepMs: 20 * minuteMs, run: () => {} })
const queues = { default: { concurrency: 100 } }

const sweeps = ({ wire }: Bench): { after: string | null; olderMs: number; deadLetterMs: number }[] =>
  wire.sent('retention.sweep') as never
const times = ({ wire }: Bench): number[] =>
  wire.calls.filter(({ call }) => call === 'retention.sweep').map(({ atMs }) => atMs)

async function left({ database: { raw } }: Bench): Promise<string[]> {
  return (await raw.dump()).jobs.map(({ spec }) => spec.id)
}

/** Jobs that have ended in a store on which no engine works yet. */
async function over(count: number, options: BenchOptions = {}): Promise<Bench> {
  const b = bench({ jobs: [work], queues, retention: false, ...options })
  await b.engine.enqueueMany(
    Array.from({ length: count }, (_, n) => ({ job: work, input: n, id: `j${String(n).padStart(4, '0')}` })),
  )
  for (const { spec } of (await b.database.raw.dump()).jobs) await b.engine.cancel(spec.id)
  return b
}

describe('retention', () => {
  it('removes what is over its keepMs, within two passes, by every started engine (15.1, 15.3)', async () => {
    const b = bench({ jobs: [work], queues })
    await b.engine.start()
    await b.engine.enqueue(work, 1, { id: 'a' })
    await b.clock.advance(20 * minuteMs)
    expect(await left(b)).toEqual(['a'])
    await b.clock.advance(5 * minuteMs + 1_000)
    expect(await left(b)).toEqual([])
    // Spread by chance (which is one half here), then every ten minutes.
    expect(times(b)).toEqual([5, 15, 25].map((minutes) => minutes * minuteMs))
    await stopNow(b)
    expect(b.clock.armed).toEqual([])
  })

  it('goes through all there is, batch by batch with a pause after each', async () => {
    const before = await over(2_100)
    const { clock, database: content } = before
    await clock.advance(20 * minuteMs)
    const b = bench({ clock, database: content, jobs: [work], queues, retention: { everyMs: 10_000 } })
    const startMs = clock.nowMs
    await b.engine.start()
    await clock.advance(6_000)
    expect(times(b).map((atMs) => atMs - startMs)).toEqual([5_000, 5_100, 5_200])
    expect(await left(b)).toEqual([])
    expect(b.engine.health().running?.retention).toEqual({ passes: 1, removed: 2_100, failures: 0 })
    await stopNow(b)
  })

  it('reads only what is older than the shortest time for which it knows a job to be kept', async () => {
    const long = defineJob<number>({ name: 'long', keepMs: 40 * dayMs, run: () => {} })
    const b = bench({ jobs: [long], queues, retention: { everyMs: minuteMs } })
    await b.engine.start()
    await b.engine.enqueue(long, 1)
    await b.clock.advance(minuteMs)
    // This one is kept for less than its definition says: whoever works on it knows.
    await b.engine.enqueue(long, 2, { id: 'short', keepMs: 1_000 })
    await b.clock.advance(2 * minuteMs)
    expect(sweeps(b).map(({ olderMs }) => olderMs)).toEqual([40 * dayMs, 1_000, 1_000])
    expect(await b.engine.get('short')).toBeNull()
    await stopNow(b)
  })

  it('keeps an open dead letter for deadLetterMs, whatever its job says (E24)', async () => {
    const fails = defineJob<number>({
      name: 'fails',
      keepMs: 0,
      retry: { maxAttempts: 1 },
      run: () => Promise.reject(new Error('no')),
    })
    const retention = { everyMs: minuteMs, deadLetterMs: dayMs }
    const b = bench({ jobs: [fails], queues, retention })
    await b.engine.start()
    await b.engine.enqueue(fails, 1, { id: 'dead' })
    await b.clock.advance(dayMs - minuteMs)
    expect(await left(b)).toEqual(['dead'])
    await b.clock.advance(3 * minuteMs)
    expect(await left(b)).toEqual([])
    await stopNow(b)
  })

  it('goes on after a minute where a call failed, from where it was', async () => {
    const before = await over(1_500)
    const { clock, database: content } = before
    await clock.advance(20 * minuteMs)
    const b = bench({ clock, database: content, jobs: [work], queues, retention: { everyMs: 10 * minuteMs } })
    await b.engine.start()
    await clock.advance(5 * minuteMs)
    b.wire.next('retention.sweep', 'lose-reply')
    await clock.advance(minuteMs + 100)
    const [first, lost, again] = sweeps(b)
    expect([first?.after, again?.after]).toEqual([null, lost?.after])
    expect(lost?.after).not.toBeNull()
    expect(await left(b)).toEqual([])
    expect(b.engine.health().running?.retention).toEqual({ passes: 1, removed: 1_000, failures: 1 })
    await stopNow(b)
  })

  it('removes named leases that lapsed a day ago', async () => {
    const b = bench({ jobs: [work], queues })
    await b.database.raw.leases.acquire({ key: 'once', owner: 'o', ttlMs: 1_000 })
    await b.engine.start()
    await b.clock.advance(dayMs)
    expect((await b.database.raw.dump()).named).toHaveLength(1)
    await b.clock.advance(10 * minuteMs)
    expect((await b.database.raw.dump()).named).toEqual([])
    await stopNow(b)
  })

  it('is waited for by a stop, and asks nothing more then', async () => {
    const before = await over(1_500)
    const { clock, database: content } = before
    await clock.advance(20 * minuteMs)
    const b = bench({ clock, database: content, jobs: [work], queues, bare: true })
    await b.engine.start()
    b.wire.next('retention.sweep', 'hang-reply')
    await clock.advance(5 * minuteMs)
    let stopped = false
    const stop = b.engine.stop().then(() => (stopped = true))
    await clock.advance(1_000)
    expect(stopped).toBe(false)
    b.wire.letGo()
    await clock.settle()
    await stop
    await clock.advance(dayMs)
    expect(sweeps(b)).toHaveLength(1)
    expect(clock.armed).toEqual([])
  })

  it('holds up no recovery, however long a call of it takes', async () => {
    const b = bench({ jobs: [work], queues, bare: true })
    await b.engine.start()
    b.wire.next('retention.sweep', 'hang')
    await b.clock.advance(5 * minuteMs)
    expect(b.wire.hanging).toBe(1)
    const moves = b.wire.sent('watch.move').length
    await b.clock.advance(minuteMs)
    expect(b.wire.sent('watch.move').length).toBe(moves + 12)
    b.wire.letGo()
    await b.clock.settle()
    await stopNow(b)
  })

  it('measures what it removes', async () => {
    const metrics: Metric[] = []
    const observer = { event: () => {}, metric: (metric: Metric) => void metrics.push(metric) }
    const before = await over(3)
    const { clock, database: content } = before
    await clock.advance(20 * minuteMs)
    const b = bench({ clock, database: content, jobs: [work], queues, observer })
    await b.engine.start()
    await clock.advance(20 * minuteMs)
    expect(metrics.filter(({ name }) => name === 'jobs.removed')).toEqual([{ name: 'jobs.removed', jobs: 3 }])
    await stopNow(b)
  })

  it('is not for an engine that is told so', async () => {
    const b = await over(1)
    await b.engine.start()
    await b.engine.tick()
    await b.clock.advance(dayMs)
    expect(sweeps(b)).toEqual([])
    await stopNow(b)
  })

  it.each([
    [5, /must be an object/],
    [{ everyMs: 0 }, /everyMs must be a whole number/],
    [{ deadLetterMs: -1 }, /deadLetterMs must be a whole number/],
    [{ evryMs: 5 }, /evryMs is not an option/],
  ])('refuses %j', (retention, why) => {
    expect(() => bench({ retention: retention as never })).toThrow(InvalidConfig)
    expect(() => bench({ retention: retention as never })).toThrow(why)
  })
})

describe('a tick', () => {
  it('does one batch where a pass is due, and goes on with the next (15.4)', async () => {
    const clock = virtualClock()
    const content = database(clock)
    const before = await over(1_500, { clock, database: content })
    await clock.advance(20 * minuteMs)
    const b = bench({ clock, database: content, jobs: [work], queues })
    await b.engine.tick()
    expect(await left(before)).toHaveLength(500)
    await b.engine.tick()
    expect(await left(b)).toEqual([])
    await clock.advance(10 * minuteMs - 200)
    await b.engine.tick()
    expect(sweeps(b)).toHaveLength(2)
    await clock.advance(200)
    await b.engine.tick()
    expect(sweeps(b)).toHaveLength(3)
  })

  it('leaves it to the engine, where that is started', async () => {
    const b = bench({ jobs: [work], queues })
    await b.engine.start()
    await b.engine.tick()
    expect(sweeps(b)).toEqual([])
    await stopNow(b)
  })

  it('recovers before it removes, and whatever becomes of that', async () => {
    const slow = defineJob<number>({ name: 'slow', run: never })
    const b = bench({ jobs: [slow], queues })
    b.wire.next('retention.sweep', 'refuse', 'refuse', 'refuse', 'refuse', 'refuse', 'refuse')
    const ticked = b.engine.tick()
    ticked.catch(() => {})
    await b.clock.advance(10_000)
    await expect(ticked).rejects.toThrow(/retention.sweep did not answer/)
    const calls = b.wire.calls.map(({ call }) => call)
    expect(calls.indexOf('watch.move')).toBeLessThan(calls.indexOf('retention.sweep'))
    expect(calls).toContain('claims.collect')
  })
})
