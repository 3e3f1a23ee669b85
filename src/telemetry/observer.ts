import type { Attributes, Counter, Gauge, Histogram, Meter } from '@opentelemetry/api'
import type { Metric } from '../engine/metrics.ts'
import type { Observer } from '../engine/ports/observer.ts'

export interface TelemetryObserverOptions {
  /** `metrics.getMeter('holdfast')`, or one of your own. */
  readonly meter: Meter
}

type Recorders = {
  readonly [Name in Metric['name']]: (metric: Extract<Metric, { readonly name: Name }>) => void
}

/**
 * Metrics as OpenTelemetry instruments. Their names are fixed; names of yours (queues, kinds) are values of
 * attributes and nothing else. Job ids are in none: there are too many of them. Give the engine this observer, or
 * one that passes its metrics on: `{ event: mine, metric: openTelemetryObserver({ meter }).metric }`.
 */
export function openTelemetryObserver({ meter }: TelemetryObserverOptions): Required<Observer> {
  const recorders = recordersOn(meter)
  return {
    event: () => {},
    metric: (metric) => (recorders[metric.name] as (metric: Metric) => void)(metric),
  }
}

function recordersOn(meter: Meter): Recorders {
  const ms = (name: string, description: string): Histogram =>
    meter.createHistogram(name, { unit: 'ms', description })
  const count = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(name, { unit, description })

  const claimLatency = ms('holdfast.claim.latency', 'How long claimed jobs had been due')
  const claimDuration = ms('holdfast.claim.duration', 'How long claims took')
  const claimJobs = meter.createHistogram('holdfast.claim.jobs', {
    unit: '{job}',
    description: 'How many jobs a claim brought',
  })
  const attempts = ms('holdfast.attempt.duration', 'How long attempts ran, by how they ended')
  const evicted = count('holdfast.job.evicted', '{job}', 'Jobs whose lease this process lost')
  const reclaimed = count('holdfast.job.reclaimed', '{job}', 'Jobs that this process took back, by why')
  const retried = count('holdfast.job.retried', '{job}', 'Jobs that failed and go back to their queue')
  const dead = count('holdfast.job.dead_lettered', '{job}', 'Jobs that failed for good')
  const lines = count('holdfast.log.lines', '{line}', 'Lines of job logs that the store took')
  const removed = count('holdfast.jobs.removed', '{job}', 'Ended jobs that this process removed')
  const margin = ms(
    'holdfast.lease.margin',
    'What was left of the leases when a renewal was answered; 0 where nothing was',
  )
  const calls = ms('holdfast.store.call.duration', 'How long store calls took, their repeats included')
  const failures = count('holdfast.store.call.failures', '{call}', 'Store calls that failed')
  const age: Gauge = meter.createGauge('holdfast.queue.age', {
    unit: 'ms',
    description: 'For how long the longest due job of a queue has been due',
  })

  const lag = ms('holdfast.loop.lag', 'How late timers had their turn')

  return {
    'claim.latency': (metric) => claimLatency.record(metric.latencyMs, about(metric)),
    'claim.call': ({ durationMs, jobs }) => {
      claimDuration.record(durationMs)
      claimJobs.record(jobs)
    },
    'attempt.run': (metric) =>
      attempts.record(metric.durationMs, { ...about(metric), 'holdfast.attempt.end': metric.end }),
    'job.evicted': (metric) => evicted.add(1, about(metric)),
    'job.reclaimed': ({ why, state }) =>
      reclaimed.add(1, { 'holdfast.reclaim.why': why, 'holdfast.job.state': state }),
    'job.retried': (metric) => retried.add(1, about(metric)),
    'job.deadLettered': (metric) => dead.add(1, about(metric)),
    'log.lines': (metric) => lines.add(metric.lines, about(metric)),
    // A histogram takes nothing below 0, and it is then that somebody must see it.
    'lease.margin': ({ marginMs }) => margin.record(Math.max(0, marginMs)),
    'store.call': ({ call, durationMs, failed }) => {
      calls.record(durationMs, { 'holdfast.store.call': call })
      if (failed !== null)
        failures.add(1, { 'holdfast.store.call': call, 'holdfast.store.call.sent': failed })
    },
    'jobs.removed': ({ jobs }) => removed.add(jobs),
    'loop.lag': ({ lagMs }) => lag.record(lagMs),
    'queue.age': ({ queue, ageMs }) => age.record(ageMs, { 'holdfast.queue': queue }),
  }
}

function about({ queue, kind }: { readonly queue: string; readonly kind: string }): Attributes {
  return { 'holdfast.queue': queue, 'holdfast.job.kind': kind }
}
