import { describe, expect, it } from 'vitest'
import { PermanentFailure } from '../../src/engine/errors.ts'
import type { EngineEvent } from '../../src/engine/history.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { Metric } from '../../src/engine/metrics.ts'
import { type Bench, type BenchOptions, bench, stopNow } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'

trapUnhandledRejections()

type Named<N extends Metric['name']> = Extract<Metric, { name: N }>
type Metered = Bench & {
  readonly metrics: readonly Metric[]
  named<N extends Metric['name']>(name: N): Named<N>[]
}

const queues = { default: { concurrency: 5 } }

function metered(options: BenchOptions = {}): Metered {
  const metrics: Metric[] = []
  const observer = { event: () => {}, metric: (metric: Metric) => void metrics.push(metric) }
  const b = bench({ queues, observer, ...options })
  return { ...b, metrics, named: (name) => metrics.filter((metric) => metric.name === name) as never }
}

const where = { queue: 'default', kind: 'work' }
const quick = defineJob({ name: 'work', run: () => {} })

describe('metrics', () => {
  it('say how long a claimed job had been due, and how long the claim took and what it brought', async () => {
    const b = metered({ jobs: [quick], bare: true })
    await b.engine.enqueueMany([
      { job: quick, input: 1, id: 'a' },
      { job: quick, input: 2, id: 'b', delayMs: 300 },
    ])
    await b.clock.advance(1_000)
    b.wire.next('claims.claim', 'hang-reply')
    await b.engine.start()
    await b.clock.advance(40)
    b.wire.letGo()
    await b.clock.settle()
    expect(b.named('claim.latency')).toEqual([
      { name: 'claim.latency', ...where, latencyMs: 1_000 },
      { name: 'claim.latency', ...where, latencyMs: 700 },
    ])
    expect(b.named('claim.call')[0]).toEqual({ name: 'claim.call', durationMs: 40, jobs: 2 })
    await stopNow(b)
  })

  it('say how long an attempt ran and how it ended, what was retried and what was dead-lettered', async () => {
    const run = async ({ input, sleep }: { input: string; sleep: (ms: number) => Promise<void> }) => {
      await sleep(250)
      if (input === 'never') throw new PermanentFailure('no')
      if (input === 'later') throw new Error('not yet')
    }
    const backoff = { kind: 'constant', delayMs: 0 } as const
    const job = defineJob<string>({ name: 'work', retry: { maxAttempts: 2, backoff } }).handle(run)
    const b = metered({ jobs: [job] })
    await b.engine.start()
    for (const input of ['well', 'never', 'later']) await b.engine.enqueue(job, input)
    await b.clock.advance(2_000)
    const ran = (end: string): unknown => ({ name: 'attempt.run', ...where, end, durationMs: 250 })
    expect(b.named('attempt.run')).toEqual([ran('succeeded'), ran('failed'), ran('failed'), ran('failed')])
    expect(b.named('job.retried')).toEqual([{ name: 'job.retried', ...where, failures: 1 }])
    expect(b.named('job.deadLettered')).toEqual([
      { name: 'job.deadLettered', ...where },
      { name: 'job.deadLettered', ...where },
    ])
    await stopNow(b)
  })

  it('say what was left of the leases when a renewal was answered, and what was lost', async () => {
    const job = defineJob({ name: 'work', leaseTtlMs: 30_000, run: ({ sleep }) => sleep(100_000) })
    const b = metered({ jobs: [job], bare: true })
    await b.engine.start()
    await b.engine.enqueue(job, null, { id: 'x' })
    await b.clock.advance(10_000)
    expect(b.named('lease.margin')).toEqual([{ name: 'lease.margin', marginMs: 20_000 }])
    b.wire.next('claims.renew', 'refuse', 'hang-reply')
    await b.clock.advance(15_000)
    b.wire.letGo()
    await b.clock.settle()
    // Sent at 10 s, refused at 20 s, sent again at 22 s and answered at 25 s.
    expect(b.named('lease.margin').at(-1)).toEqual({ name: 'lease.margin', marginMs: 15_000 })
    b.database.jump(3_600_000)
    for (let k = 0; k < 8; k++) {
      b.wire.next('claims.renew', 'refuse', 'refuse', 'refuse')
      await b.clock.advance(5_000)
    }
    await b.clock.advance(20_000)
    expect(b.named('job.reclaimed')).toEqual([{ name: 'job.reclaimed', why: 'silent', state: 'queued' }])
    expect(b.named('job.evicted')).toEqual([{ name: 'job.evicted', ...where }])
    expect(b.named('attempt.run').map(({ end }) => end)).toContain('lost')
    await stopNow(b)
  })

  it('say how long store calls took, and which failed', async () => {
    const b = metered({ bare: true })
    await b.engine.get('x')
    b.wire.next('jobs.get', 'refuse', 'lose-reply')
    await expect(b.engine.get('x')).rejects.toThrow('refused')
    await expect(b.engine.get('x')).rejects.toThrow('lost')
    const call = { name: 'store.call', call: 'jobs.get', durationMs: 0 }
    expect(b.metrics).toEqual([
      { ...call, failed: null },
      { ...call, failed: 'no' },
      { ...call, failed: 'maybe' },
    ])
  })

  it('say now and then how old the queues of this engine are', async () => {
    const waiting = defineJob({ name: 'waiting' })
    const b = metered({ queues: { default: { concurrency: 1 }, idle: { concurrency: 1 } } })
    await b.engine.start()
    await b.engine.enqueue(waiting, null)
    await b.clock.advance(30_000)
    expect(b.named('queue.age')).toEqual([
      { name: 'queue.age', queue: 'default', ageMs: 25_000 },
      { name: 'queue.age', queue: 'idle', ageMs: 0 },
    ])
    await stopNow(b)
    await b.engine.tick()
    expect(b.named('queue.age').length).toBeGreaterThan(2)
  })

  it('cost nothing where nobody listens: no call, and not one event more', async () => {
    const course = async (observer: boolean): Promise<[readonly string[], string[]]> => {
      const events: EngineEvent[] = []
      const metric = (): void => {}
      const listening = {
        event: (event: EngineEvent) => void events.push(event),
        ...(observer && { metric }),
      }
      const b = bench({ jobs: [quick], queues, observer: listening })
      await b.engine.start()
      await b.engine.enqueue(quick, null, { id: 'x' })
      await b.clock.advance(60_000)
      await stopNow(b)
      return [b.wire.calls.map(({ call }) => call), events.map(({ type }) => type)]
    }
    const [[deaf, told], [calls, events]] = [await course(false), await course(true)]
    expect(deaf).not.toContain('jobs.queueAges')
    expect(calls.filter((call) => call !== 'jobs.queueAges')).toEqual(deaf)
    expect(events).toEqual(told)
  })

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('full')
      },
    ],
    ['rejects', () => Promise.reject(new Error('full'))],
  ])('harm nothing where the observer %s', async (_how, fail) => {
    const reports: string[] = []
    const event = (event: EngineEvent): void => {
      if (event.type === 'observer.failed') reports.push(event.message)
    }
    const metric = (): void => fail() as undefined
    const b = bench({ jobs: [quick], queues, observer: { event, metric } })
    await b.engine.start()
    await b.engine.enqueue(quick, null, { id: 'x' })
    await b.clock.advance(1_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1 })
    await stopNow(b)
    expect(reports.length).toBeGreaterThan(0)
    expect(new Set(reports)).toEqual(new Set(['Error: full']))
  })
})
