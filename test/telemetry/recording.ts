// OpenTelemetry without its SDK: a meter and a tracer that write down what they are told.
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Context,
  type ContextManager,
  type Meter,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type Tracer,
  context,
  trace,
} from '@opentelemetry/api'
import { onTestFinished } from 'vitest'

export interface Recorded {
  readonly instrument: string
  readonly value: number
  readonly attributes: Attributes
}

export interface RecordingMeter {
  readonly meter: Meter
  readonly made: ReadonlyMap<string, { readonly kind: string; readonly unit: string | undefined }>
  readonly records: readonly Recorded[]
}

export function recordingMeter(): RecordingMeter {
  const made = new Map<string, { kind: string; unit: string | undefined }>()
  const records: Recorded[] = []
  const make = (kind: string) => (name: string, options?: { unit?: string }) => {
    made.set(name, { kind, unit: options?.unit })
    const record = (value: number, attributes: Attributes = {}): void => {
      records.push({ instrument: name, value, attributes })
    }
    return { record, add: record }
  }
  const meter: Pick<Meter, 'createHistogram' | 'createCounter' | 'createGauge'> = {
    createHistogram: make('histogram'),
    createCounter: make('counter'),
    createGauge: make('gauge'),
  }
  return { meter: meter as Meter, made, records }
}

export interface RecordedSpan {
  readonly name: string
  readonly attributes: Attributes
  readonly parent: SpanContext | undefined
  readonly spanContext: SpanContext
  readonly exceptions: unknown[]
  status: unknown
  ended: number
}

export function recordingTracer(): { readonly tracer: Tracer; readonly spans: readonly RecordedSpan[] } {
  const spans: RecordedSpan[] = []
  const startSpan: Tracer['startSpan'] = (name, options = {}, parent = context.active()) => {
    const above = trace.getSpanContext(parent)
    const spanContext = {
      traceId: above?.traceId ?? 'f'.repeat(32),
      spanId: String(spans.length + 1).padStart(16, '0'),
      traceFlags: above?.traceFlags ?? 1,
    }
    const span: RecordedSpan = {
      name,
      attributes: options.attributes ?? {},
      parent: above,
      spanContext,
      exceptions: [],
      status: null,
      ended: 0,
    }
    spans.push(span)
    const told: Pick<Span, 'spanContext' | 'end'> & { recordException: unknown; setStatus: unknown } = {
      spanContext: () => spanContext,
      recordException: (exception: unknown) => void span.exceptions.push(exception),
      setStatus: (status: unknown) => {
        span.status = status
      },
      end: () => {
        span.ended += 1
      },
    }
    return told as unknown as Span
  }
  return { tracer: { startSpan } as Tracer, spans }
}

/** Contexts that follow promises, until the test is over. */
export function withContexts(): void {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, run, self, ...args) => storage.run(active, () => run.apply(self as never, args)),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  context.setGlobalContextManager(manager)
  onTestFinished(() => context.disable())
}
