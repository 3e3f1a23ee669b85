import type { JobState, Outcome } from '../jobs/record.ts'
import type { Metric } from '../metrics.ts'
import type { ClaimedJob } from '../ports/store.ts'
import type { Attempt } from './attempt.ts'
import type { WorkerParts } from './parts.ts'

/** What the loops measure. Each of these does nothing where nobody listens. */

type Meter = Pick<WorkerParts, 'clock' | 'measure'>

export function claimAnswered(
  { clock, measure }: Meter,
  sentAtMs: number,
  jobs: readonly ClaimedJob[],
): void {
  if (!measure) return
  measure({ name: 'claim.call', durationMs: clock.monotonicMs() - sentAtMs, jobs: jobs.length })
  for (const { spec, waitedMs } of jobs) {
    if (waitedMs !== null) measure({ name: 'claim.latency', ...of(spec), latencyMs: waitedMs })
  }
}

/** What is left of the lease that ends first, as the answer to a renewal comes in. */
export function marginLeft({ clock, measure }: Meter, attempts: readonly Attempt[]): void {
  if (!measure || attempts.length === 0) return
  const ends = attempts.map(({ claim, job }) => claim.sentAtMs + job.spec.leaseTtlMs)
  measure({ name: 'lease.margin', marginMs: Math.min(...ends) - clock.monotonicMs() })
}

/** How long the handler of one attempt ran; `beganAtMs` is null if it never did. */
export function runEnded(
  { clock, measure }: Meter,
  { spec }: ClaimedJob,
  beganAtMs: number | null,
  end: Outcome['kind'] | 'lost',
): void {
  if (!measure) return
  if (end === 'lost') measure({ name: 'job.evicted', ...of(spec) })
  if (beganAtMs === null) return
  measure({ name: 'attempt.run', ...of(spec), end, durationMs: clock.monotonicMs() - beganAtMs })
}

/** What became of the job of an attempt that failed, once its settle was applied. */
export function failureSettled(
  { measure }: Meter,
  { spec, failures }: ClaimedJob,
  outcome: Outcome,
  became: JobState | null,
): void {
  if (outcome.kind !== 'failed' || became === 'cancelled') return
  if (became === 'failed') measure?.({ name: 'job.deadLettered', ...of(spec) })
  // Others may have moved it on by the time that a repeat is answered: then it was retried all the same.
  else measure?.({ name: 'job.retried', ...of(spec), failures: failures + 1 })
}

function of({
  queue,
  kind,
}: ClaimedJob['spec']): Pick<Extract<Metric, { name: 'job.evicted' }>, 'queue' | 'kind'> {
  return { queue, kind }
}
