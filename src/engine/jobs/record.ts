/** What the producer stated. It never changes, so stores share it and do not rewrite it. */
export interface JobSpec {
  readonly id: string
  readonly kind: string
  readonly queue: string
  /** 0 critical, 1 high, 2 normal, 3 low; lower runs first. */
  readonly band: number
  /** JSON text. */
  readonly input: string
  readonly inputVersion: number
  readonly maxAttempts: number
  readonly maxEvictions: number
  /** Delay before the n-th return to the queue, in ms; the last entry serves all later ones. */
  readonly backoffMs: readonly number[]
  readonly jitter: boolean
  readonly leaseTtlMs: number
  readonly timeoutMs: number
  /** Whose job it is; null: nobody's in particular. */
  readonly tenant: string | null
  /** What it is found by: `dimension:VALUE`, in UTF-8 order, none twice. */
  readonly keys: readonly string[]
  /** For how long it is kept once it has ended, its results and logs with it, in ms. */
  readonly keepMs: number
  /** Of the replay of a dead letter: where it comes from; null for all others. */
  readonly lineage: Lineage | null
  /** The producer's own labels and trace context, carried with the job; null if there are none. */
  readonly metadata: Readonly<Record<string, string>> | null
  /** W3C trace context of the enqueue; restored around the handler. */
  readonly traceparent: string | null
  /** The producer's wall clock at enqueue; for display only. */
  readonly enqueuedAtMs: number
}

export interface Lineage {
  /** The job that the first of all these replays was of. */
  readonly root: string
  /** The dead letter that this one replays. */
  readonly parent: string
  /** It is the n-th replay since `root`. */
  readonly replays: number
}

export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
export const jobStates: readonly JobState[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled']

/** Why a job failed, or failed last. `code` is stable. */
export interface JobError {
  readonly code: string
  readonly message: string
  /** Where the handler threw it, as far as what it threw says so: at most 8,192 characters. */
  readonly stack?: string
}

/** How far the current attempt says it is. */
export interface Progress {
  /** 0 to 100. */
  readonly percent: number
  readonly phase: string | null
}

/** Something out of the ordinary that became of a job: what an ordinary life consists of, its instants tell. */
export interface JobEvent {
  readonly kind:
    | 'failed'
    | 'timed-out'
    | 'evicted'
    | 'released'
    | 'cancel-requested'
    | 'retried'
    | 'rescheduled'
    | 'replayed'
    | 'discarded'
    | 'restored'
  readonly atMs: number
  /** The attempt and the epoch that it ended, or at which it came. */
  readonly attempt: number
  readonly epoch: number
  readonly error: JobError | null
}
/** So many of the last are kept. */
export const jobEventsMax = 20

/** How a holder ends its attempt. */
export type Outcome =
  | { readonly kind: 'succeeded'; readonly result: string | null }
  | {
      readonly kind: 'failed'
      readonly error: JobError
      readonly permanent: boolean
      readonly delayMs: number
    }
  /** Given back uncharged: shutdown, or an attempt that was aborted while its lease was uncertain. */
  | { readonly kind: 'released'; readonly delayMs: number }
  /** Ended because an operator asked for it. */
  | { readonly kind: 'cancelled' }

/** One job as the store keeps it. Instants are database time, in ms since the Unix epoch. */
export interface JobRecord {
  readonly spec: JobSpec
  readonly state: JobState
  /** Fencing token: rises on every claim and every reclaim, never falls. */
  readonly epoch: number
  /** +1 in every claim; names the attempt. */
  readonly attempt: number
  /** What the retry budget has paid for. */
  readonly failures: number
  /** Leases lost. */
  readonly evictions: number
  /** +1 on every write of the job. */
  readonly version: number
  /** Insertion sequence; orders jobs that became visible in the same instant. Shown rounded beyond 2^53. */
  readonly seq: number
  readonly visibleAtMs: number | null
  readonly token: string | null
  readonly claimedAtMs: number | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly finishedAtMs: number | null
  /** When an operator asked for its end. A running job ends as cancelled instead of coming back. */
  readonly cancelRequestedAtMs: number | null
  readonly progress: Progress | null
  readonly result: string | null
  readonly error: JobError | null
  /** The last settle that applied: how a repeat of it recognises its own outcome. */
  readonly lastSettle: { readonly epoch: number; readonly kind: Outcome['kind'] } | null
  /** The last command of an operator that applied: how a repeat of it recognises itself. */
  readonly lastCommand: string | null
  /** Since when it is a dead letter, for somebody to replay or discard; null: it is none. */
  readonly deadAtMs: number | null
  /** The id of the job that replays it; null: it was not replayed. */
  readonly replayedAs: string | null
  /** Oldest first, the last `jobEventsMax`. For display only. */
  readonly events: readonly JobEvent[]
}

export function isTerminal(state: JobState): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'cancelled'
}

/** One more eviction would dead-letter it: it must be claimed alone. */
export function isLastEviction(job: { readonly spec: JobSpec; readonly evictions: number }): boolean {
  return job.evictions > 0 && job.evictions >= job.spec.maxEvictions - 1
}
