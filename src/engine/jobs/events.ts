import { type JobError, type JobEvent, type JobRecord, isTerminal } from './record.ts'

/** One thing that became of a job. */
export type JobMoment =
  | { readonly kind: 'created'; readonly atMs: number }
  | JobEvent
  /** Where it stands now: a job that is retried has no end any more. */
  | {
      readonly kind: 'ended'
      readonly atMs: number
      readonly state: 'succeeded' | 'failed' | 'cancelled'
      readonly attempt: number
      readonly epoch: number
      /** Why it failed; null otherwise. */
      readonly error: JobError | null
    }

/** Oldest first, as the record tells it; what is ordinary, each claim and heartbeat, it does not keep. */
export function momentsOf(job: JobRecord): readonly JobMoment[] {
  const afterEnd = job.events.findLastIndex(({ kind }) => !comesAfterEnd(kind)) + 1
  const [lived, since] = [job.events.slice(0, afterEnd), job.events.slice(afterEnd)]
  return [{ kind: 'created', atMs: job.createdAtMs }, ...lived, ...endOf(job), ...since]
}

/** What is done about a dead letter. */
function comesAfterEnd(kind: JobEvent['kind']): boolean {
  return kind === 'replayed' || kind === 'discarded'
}

function endOf({ state, finishedAtMs, attempt, epoch, error }: JobRecord): JobMoment[] {
  if (!isTerminal(state) || finishedAtMs === null) return []
  const how = state as 'succeeded' | 'failed' | 'cancelled'
  return [
    {
      kind: 'ended',
      atMs: finishedAtMs,
      state: how,
      attempt,
      epoch,
      error: state === 'failed' ? error : null,
    },
  ]
}
