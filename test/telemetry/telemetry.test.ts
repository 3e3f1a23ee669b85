import { type Context, ROOT_CONTEXT, SpanStatusCode, context, trace } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { openTelemetryObserver, openTelemetryTracing, traceContext } from '../../src/telemetry/index.ts'
import { bench, stopNow } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { recordingMeter, recordingTracer, withContexts } from './recording.ts'

trapUnhandledRejections()

const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-b7ad6b7169203331-01`
const marker = 'S3CR3T-input'

describe('the observer', () => {
  it('shows leases that had lapsed as a margin of 0, since a histogram drops what is below', () => {
    const { meter, records } = recordingMeter()
    openTelemetryObserver({ meter }).metric({ name: 'lease.margin', marginMs: -2_000 })
    expect(records).toEqual([{ instrument: 'holdfast.lease.margin', value: 0, attributes: {} }])
  })

  it('makes one instrument for each metric, with its unit, and records under fixed names', async () => {
    const { meter, made, records } = recordingMeter()
    const failing = defineJob({
      name: 'failing',
      retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 0 } },
      run: async ({ sleep }) => {
        await sleep(12_000)
        throw new Error('no')
      },
    })
    const b = bench({
      jobs: [failing],
      queues: { default: { concurrency: 2 } },
      observer: openTelemetryObserver({ meter }),
    })
    await b.engine.start()
    await b.engine.enqueue(failing, { marker })
    b.wire.next('claims.renew', 'refuse')
    await b.clock.advance(40_000)
    await stopNow(b)
    expect(made.get('holdfast.claim.latency')).toEqual({ kind: 'histogram', unit: 'ms' })
    expect(made.get('holdfast.queue.age')).toEqual({ kind: 'gauge', unit: 'ms' })
    expect(made.get('holdfast.job.retried')).toEqual({ kind: 'counter', unit: '{job}' })
    const seen = new Set(records.map(({ instrument }) => instrument))
    expect([...made.keys()].filter((name) => !seen.has(name))).toEqual([
      'holdfast.job.evicted',
      'holdfast.job.reclaimed',
      'holdfast.log.lines',
      'holdfast.jobs.removed',
      'holdfast.store.call.failures',
    ])
    const about = { 'holdfast.queue': 'default', 'holdfast.job.kind': 'failing' }
    expect(records.filter(({ instrument }) => instrument === 'holdfast.attempt.duration')).toEqual([
      {
        instrument: 'holdfast.attempt.duration',
        value: 12_000,
        attributes: { ...about, 'holdfast.attempt.end': 'failed' },
      },
      {
        instrument: 'holdfast.attempt.duration',
        value: 12_000,
        attributes: { ...about, 'holdfast.attempt.end': 'failed' },
      },
    ])
    expect(JSON.stringify(records)).not.toContain(marker)
  })

  it('maps every metric that there is, also those of bad days', () => {
    const { meter, records } = recordingMeter()
    const { metric } = openTelemetryObserver({ meter })
    metric({ name: 'job.evicted', queue: 'q', kind: 'k' })
    metric({ name: 'job.reclaimed', why: 'unleased', state: 'failed' })
    metric({ name: 'store.call', call: 'jobs.get', durationMs: 7, failed: 'maybe' })
    expect(records).toEqual([
      {
        instrument: 'holdfast.job.evicted',
        value: 1,
        attributes: { 'holdfast.queue': 'q', 'holdfast.job.kind': 'k' },
      },
      {
        instrument: 'holdfast.job.reclaimed',
        value: 1,
        attributes: { 'holdfast.reclaim.why': 'unleased', 'holdfast.job.state': 'failed' },
      },
      {
        instrument: 'holdfast.store.call.duration',
        value: 7,
        attributes: { 'holdfast.store.call': 'jobs.get' },
      },
      {
        instrument: 'holdfast.store.call.failures',
        value: 1,
        attributes: { 'holdfast.store.call': 'jobs.get', 'holdfast.store.call.sent': 'maybe' },
      },
    ])
  })

  it.each(['__proto__', 'constructor', 'a\nb', '<script>', '{{x}}', '😀'])(
    'keeps a hostile name a value: %j',
    (name) => {
      const { meter, made, records } = recordingMeter()
      const { metric } = openTelemetryObserver({ meter })
      const before = [...made.keys()]
      metric({ name: 'claim.latency', queue: name, kind: name, latencyMs: 1 })
      metric({ name: 'queue.age', queue: name, ageMs: 2 })
      expect([...made.keys()]).toEqual(before)
      expect(records.map(({ attributes }) => Object.entries(attributes))).toEqual([
        [
          ['holdfast.queue', name],
          ['holdfast.job.kind', name],
        ],
        [['holdfast.queue', name]],
      ])
    },
  )
})

describe('the tracing middleware', () => {
  const seen: (string | undefined)[] = []
  const look = defineJob<unknown>({
    name: 'look\n<b>',
    run: async ({ sleep, input }) => {
      await sleep(10)
      seen.push(trace.getSpanContext(context.active())?.traceId)
      if (input === 'fail') throw new Error('it broke')
      if (input === 'odd') {
        throw Object.defineProperty({}, 'toString', {
          get: () => {
            throw new Error('no text')
          },
        })
      }
    },
  })

  async function ran(
    input: unknown,
    options: { traceparent?: string; propagation?: { extract(context: Context): Context } } = {},
  ): Promise<ReturnType<typeof recordingTracer>['spans']> {
    seen.length = 0
    withContexts()
    const { tracer, spans } = recordingTracer()
    const { traceparent, ...rest } = options
    const b = bench({
      jobs: [look],
      queues: { default: { concurrency: 2 } },
      middleware: [openTelemetryTracing({ tracer, ...rest })],
    })
    const somethingElse = { traceId: 'e'.repeat(32), spanId: 'e'.repeat(16), traceFlags: 1 }
    await context.with(trace.setSpanContext(ROOT_CONTEXT, somethingElse), () => b.engine.start())
    await b.engine.enqueue(look, input, { id: 'x', ...(traceparent && { traceparent }) })
    await b.clock.advance(500)
    await stopNow(b)
    return spans
  }

  it('restores the trace of the enqueue around the handler, in a span of its own', async () => {
    const [span, ...more] = await ran(marker, { traceparent })
    expect(more).toEqual([])
    expect(seen).toEqual([traceId])
    expect(span).toMatchObject({
      name: 'holdfast.attempt',
      parent: { traceId, spanId: 'b7ad6b7169203331', traceFlags: 1, isRemote: true },
      attributes: {
        'holdfast.job.id': 'x',
        'holdfast.job.kind': 'look\n<b>',
        'holdfast.queue': 'default',
        'holdfast.attempt': 1,
      },
      status: null,
      ended: 1,
    })
    expect(JSON.stringify(span)).not.toContain(marker)
  })

  it('begins a trace where the job carries none, whatever was active when the engine was started', async () => {
    const [span] = await ran(null)
    expect(span?.parent).toBeUndefined()
    expect(seen).toEqual(['f'.repeat(32)])
  })

  it('tells what a handler threw, and throws it on', async () => {
    const [span] = await ran('fail', { traceparent })
    expect(span).toMatchObject({
      exceptions: ['Error: it broke'],
      status: { code: SpanStatusCode.ERROR, message: 'Error: it broke' },
      ended: 1,
    })
    const [odd] = await ran('odd', { traceparent })
    expect(odd).toMatchObject({ exceptions: ['a value that cannot be printed was thrown'], ended: 1 })
  })

  it('reads the trace context with the propagator that it was given', async () => {
    const other = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 0 }
    const carriers: unknown[] = []
    const propagation = {
      extract: (base: Context, ...rest: unknown[]) => {
        carriers.push(rest[0])
        return trace.setSpanContext(base, other)
      },
    }
    const [span] = await ran(null, { traceparent, propagation })
    expect(carriers).toEqual([{ traceparent }])
    expect(span?.parent).toEqual(other)
  })

  it('takes a trace context that is none for none', async () => {
    const { tracer, spans } = recordingTracer()
    const around = openTelemetryTracing({ tracer })
    const job = { id: 'x', kind: 'k', queue: 'q', metadata: {} }
    for (const traceparent of ['', 'nonsense', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`]) {
      const attempt = { number: 1 }
      expect(await around({ job: { ...job, traceparent }, attempt } as never, async () => 5)).toBe(5)
    }
    expect(spans.map(({ parent }) => parent)).toEqual([undefined, undefined, undefined])
  })
})

describe('traceContext', () => {
  it('is what an enqueue passes on, and what the engine takes', async () => {
    withContexts()
    const b = bench()
    const job = defineJob({ name: 'job' })
    const active = { traceId, spanId: 'b7ad6b7169203331', traceFlags: 1 }
    expect(traceContext()).toEqual({})
    await context.with(trace.setSpanContext(ROOT_CONTEXT, active), async () => {
      expect(traceContext()).toEqual({ traceparent })
      await b.engine.enqueue(job, null, { id: 'x', ...traceContext() })
    })
    expect((await b.database.job('x')).spec.traceparent).toBe(traceparent)
  })
})
