import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  TraceFlags,
  type Tracer,
  context,
  isSpanContextValid,
  trace,
} from '@opentelemetry/api'
import { textOf } from '../engine/jobs/text.ts'
import type { Middleware } from '../engine/worker/middleware.ts'

export interface TelemetryTracingOptions {
  /** `trace.getTracer('holdfast')`, or one of your own. */
  readonly tracer: Tracer
  /**
   * What reads the trace context that the job carries: `propagation` of the OpenTelemetry API, or a propagator.
   * Default: the W3C `traceparent` is read as it is, whichever propagator is registered.
   */
  readonly propagation?: Extractor
}

interface Extractor {
  extract(context: Context, carrier: Carrier, getter: TextMapGetter<Carrier>): Context
}
type Carrier = { readonly traceparent: string }

const getter: TextMapGetter<Carrier> = {
  keys: (carrier) => Object.keys(carrier),
  get: (carrier, key) => (key === 'traceparent' ? carrier.traceparent : undefined),
}

/**
 * A middleware that restores the trace context of the enqueue around each handler, in a span of its own: what the
 * handler calls is traced as a part of what caused the job. The span's name is fixed; ids and names of yours are
 * values of attributes. Neither input nor result is in it.
 */
export function openTelemetryTracing({ tracer, propagation }: TelemetryTracingOptions): Middleware {
  return async ({ job, attempt }, next) => {
    const parent = parentOf(job.traceparent, propagation)
    const attributes = {
      'holdfast.job.id': job.id,
      'holdfast.job.kind': job.kind,
      'holdfast.queue': job.queue,
      'holdfast.attempt': attempt.number,
    }
    const span = tracer.startSpan('holdfast.attempt', { kind: SpanKind.CONSUMER, attributes }, parent)
    try {
      return await context.with(trace.setSpan(parent, span), next)
    } catch (error) {
      failed(span, error)
      throw error
    } finally {
      span.end()
    }
  }
}

/** The trace context of whatever runs now, to enqueue with: `enqueue(job, input, { ...traceContext() })`. */
export function traceContext(): { readonly traceparent?: string } {
  const active = trace.getSpanContext(context.active())
  if (!active || !isSpanContextValid(active)) return {}
  const flags = (active.traceFlags & 0xff).toString(16).padStart(2, '0')
  return { traceparent: `00-${active.traceId}-${active.spanId}-${flags}` }
}

/** What runs the engine's loops is no parent of a job: without a trace context of its own it begins a trace. */
function parentOf(traceparent: string | null, propagation: Extractor | undefined): Context {
  if (traceparent === null) return ROOT_CONTEXT
  if (propagation) return propagation.extract(ROOT_CONTEXT, { traceparent }, getter)
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  const remote = { traceId, spanId, traceFlags, isRemote: true }
  return isSpanContextValid(remote) ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT
}

/** A handler throws what it likes, also what throws when it is read. */
function failed(span: Span, error: unknown): void {
  const message = textOf(error)
  span.recordException(message)
  span.setStatus({ code: SpanStatusCode.ERROR, message })
}
