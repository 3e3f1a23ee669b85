export { type TelemetryObserverOptions, openTelemetryObserver } from './observer.ts'
export { type TelemetryTracingOptions, openTelemetryTracing, traceContext } from './tracing.ts'
