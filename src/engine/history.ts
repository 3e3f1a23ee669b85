import type { JobState, Outcome } from './jobs/record.ts'
import type { Settled } from './ports/store.ts'

/**
 * The vocabulary of observable events (types only). Properties are folds over these; nothing else of the
 * engine is visible to them. `StoreEvent`s say what an operation did to the store, `EngineEvent`s what one
 * engine did, `WorldEvent`s what the environment did to them, `ServiceEvent`s what the services of a user's bench did.
 */
export type HistoryEvent = (StoreEvent | EngineEvent | WorldEvent | ServiceEvent) & Where
export type HistoryType = HistoryEvent['type']
export type EventOf<T extends HistoryType> = Extract<HistoryEvent, { readonly type: T }>

export interface Where {
  /** True time since the start of the run, in ms. */
  readonly atMs: number
  /** Which process: a name and its incarnation (0 for the environment itself). */
  readonly node: string
  readonly incarnation: number
}

export type StoreEvent =
  | {
      readonly type: 'job.inserted'
      readonly job: string
      readonly created: boolean
      readonly kind: string
      readonly queue: string
      readonly band: number
      readonly maxAttempts: number
      readonly maxEvictions: number
      readonly leaseTtlMs: number
      readonly timeoutMs: number
      readonly backoffMs: readonly number[]
      readonly jitter: boolean
      /** How long it is kept once it has ended. */
      readonly keepMs: number
      /** How long after now it is due; null where that is an absolute time, or never until it is dispatched. */
      readonly dueMs: number | null
      /** Without a place in the queue: whoever created it was to give it one, and a sweep does if nobody did. */
      readonly undispatched: boolean
      /** Digest of the input's JSON text. */
      readonly input: number
    }
  /** Its id is taken by a job of another kind or input. */
  | {
      readonly type: 'insert.refused'
      readonly job: string
      readonly kind: string
      /** Digest of the input's JSON text. */
      readonly input: number
    }
  | {
      readonly type: 'job.claimed'
      readonly job: string
      readonly epoch: number
      readonly attempt: number
      readonly failures: number
      readonly evictions: number
      readonly token: string
      readonly leaseTtlMs: number
      readonly batch: number
    }
  | { readonly type: 'claim.refused'; readonly token: string }
  | { readonly type: 'claim.voided'; readonly token: string }
  | { readonly type: 'claim.recovered'; readonly token: string; readonly job: string; readonly epoch: number }
  | { readonly type: 'lease.renewed'; readonly job: string; readonly epoch: number }
  | {
      readonly type: 'job.settled'
      readonly job: string
      readonly epoch: number
      readonly outcome: Outcome['kind']
      /** A failure that skips the remaining attempts. */
      readonly permanent: boolean
      /** How long a job that goes back was to wait. */
      readonly delayMs: number
      /** Digest of the result's JSON text; 0 for none. */
      readonly result: number
      /** Code of the error of a failure; null for none. */
      readonly error: string | null
      readonly settled: Settled
      readonly repeated: boolean
      readonly state: JobState | null
    }
  /** What a handler wrote in the transaction that settles its attempt; `result` is the digest of what it answered. */
  | {
      readonly type: 'effect.committed'
      readonly job: string
      readonly epoch: number
      readonly result: number
    }
  | {
      readonly type: 'job.reclaimed'
      readonly job: string
      readonly epoch: number
      readonly evictions: number
      readonly state: 'queued' | 'failed' | 'cancelled'
    }
  | { readonly type: 'reclaim.heldBack'; readonly leases: number }
  | {
      readonly type: 'job.timedOut'
      readonly job: string
      readonly epoch: number
      readonly failures: number
      readonly state: 'queued' | 'failed' | 'cancelled'
    }
  | {
      readonly type: 'watch.moved'
      readonly kind: 'moved' | 'restarted' | 'refused'
      readonly seenSinceMs: number
    }

  /** An operator asked for the end: a queued job is `cancelled` at once, a running one `requested`. */
  | { readonly type: 'job.cancelRequested'; readonly job: string; readonly kind: 'cancelled' | 'requested' }
  | {
      readonly type: 'job.commanded'
      readonly job: string
      readonly command: 'retry' | 'reschedule'
      /** Names the call: a repeat of one that applied is answered `applied` again. */
      readonly token: string
      readonly delayMs: number
      /** The version at which it was asked for. */
      readonly asked: number
      readonly applied: boolean
      /** The version after it. */
      readonly version: number | null
    }
  | { readonly type: 'job.dispatched'; readonly job: string }
  /** It had ended, and was kept for long enough; its id is free again. */
  | { readonly type: 'job.removed'; readonly job: string }
  | {
      readonly type: 'job.noted'
      readonly job: string
      readonly epoch: number
      readonly what: 'progress' | 'checkpoint'
      readonly key: string
      /** Digest of the JSON text that was kept. */
      readonly value: number
      readonly applied: boolean
    }
  /** The checkpoints of a job were read. */
  | {
      readonly type: 'job.recalled'
      readonly job: string
      readonly entries: readonly { readonly key: string; readonly value: number }[]
    }
  | { readonly type: 'named.acquired'; readonly key: string; readonly owner: string; readonly ttlMs: number }
  | { readonly type: 'named.refused'; readonly key: string; readonly owner: string }
  | {
      readonly type: 'named.renewed'
      readonly key: string
      readonly owner: string
      readonly ttlMs: number
      readonly held: boolean
    }
  | {
      readonly type: 'named.released'
      readonly key: string
      readonly owner: string
      readonly released: boolean
    }
  | { readonly type: 'control.changed'; readonly hold: boolean; readonly paused: readonly string[] }

export type EngineEvent =
  | { readonly type: 'engine.started'; readonly worker: string }
  | { readonly type: 'engine.stopped'; readonly worker: string }
  | { readonly type: 'claim.unknown'; readonly token: string }
  /** What became of an unknown claim is known. */
  | { readonly type: 'claim.known'; readonly token: string }
  | {
      readonly type: 'attempt.started'
      readonly job: string
      readonly epoch: number
      readonly attempt: number
    }
  /**
   * The job has an input of a newer version than this engine's definition knows: it goes back uncharged, for one that
   * does. If this goes on after a roll-out, an old release still works on the queue.
   */
  | {
      readonly type: 'attempt.misfit'
      readonly job: string
      readonly epoch: number
      readonly inputVersion: number
      readonly knows: number
    }
  | {
      readonly type: 'attempt.ended'
      readonly job: string
      readonly epoch: number
      readonly end: Outcome['kind']
    }
  /** Its handler commits: until that is known to have failed, nothing else ends the attempt. */
  | { readonly type: 'attempt.committing'; readonly job: string; readonly epoch: number }
  /** Its handler was told that its transaction was committed. */
  | { readonly type: 'attempt.committed'; readonly job: string; readonly epoch: number }
  | { readonly type: 'attempt.uncertain'; readonly job: string; readonly epoch: number }
  | { readonly type: 'attempt.certain'; readonly job: string; readonly epoch: number }
  | { readonly type: 'attempt.lost'; readonly job: string; readonly epoch: number }
  | { readonly type: 'attempt.cancelling'; readonly job: string; readonly epoch: number }
  | { readonly type: 'exclusive.began'; readonly key: string; readonly owner: string }
  | { readonly type: 'exclusive.lost'; readonly key: string; readonly owner: string }
  | { readonly type: 'exclusive.ended'; readonly key: string; readonly owner: string }
  /** Within exclusive work: this process is the leader, until the work ends or it learns that the lease is lost. */
  | { readonly type: 'leader.elected'; readonly key: string; readonly owner: string }
  | { readonly type: 'leader.lost'; readonly key: string; readonly owner: string }
  /** The leader's work threw, though nobody had asked it to end. */
  | {
      readonly type: 'leader.failed'
      readonly key: string
      readonly owner: string
      readonly message: string
    }
  | { readonly type: 'attempt.abandoned'; readonly job: string; readonly epoch: number }
  | {
      readonly type: 'attempt.confirmed'
      readonly job: string
      readonly epoch: number
      readonly settled: Settled
    }
  /**
   * The event loop came to a heartbeat that much too late, with these jobs in flight: a handler keeps it busy, or the
   * process was stopped, or the machine slept.
   */
  | { readonly type: 'loop.stalled'; readonly forMs: number; readonly jobs: readonly string[] }
  /** Hints that something is due arrive from now on, or do not; the engine polls as before. */
  | { readonly type: 'wakeups.changed'; readonly up: boolean; readonly why: string | null }
  /** `answered`: the store was reached, and will not do it. */
  | { readonly type: 'store.failed'; readonly call: string; readonly sent: 'no' | 'maybe' | 'answered' }
  | { readonly type: 'observer.failed'; readonly message: string }

export type WorldEvent =
  | {
      readonly type: 'run.started'
      readonly sweepMs: number
      readonly storeCallMs: number
      readonly replyMs: number
      readonly abandonMs: number
      readonly pollMsMax: number
      /** How long an open dead letter is kept; null: nothing is ever removed. */
      readonly deadLetterMs: number | null
    }
  | {
      readonly type: 'fault.struck'
      readonly fault: string
      readonly family: string
      readonly call: string | null
      /** How long it lasts, where no event of its own says that it is over; else 0. */
      readonly forMs: number
    }
  /** The queues that it works on, with their concurrency, and the kinds that it has handlers for. */
  | {
      readonly type: 'node.started'
      readonly queues: Readonly<Record<string, number>>
      readonly kinds: readonly string[]
    }
  | { readonly type: 'node.stopping'; readonly drainMs: number }
  | { readonly type: 'node.crashed' }
  | { readonly type: 'node.paused'; readonly forMs: number }
  | { readonly type: 'node.resumed' }
  | { readonly type: 'database.down'; readonly forMs: number }
  | { readonly type: 'database.up' }
  /** The clock of the database went forward, or back. */
  | { readonly type: 'database.jumped'; readonly byMs: number }
  /** `tries`: how often it was sent; what an earlier send did, the producer does not know. */
  | {
      readonly type: 'enqueue.acknowledged'
      readonly job: string
      readonly created: boolean
      readonly tries: number
    }
  /** Its id is taken by another job, its producer was told. */
  | { readonly type: 'enqueue.refused'; readonly job: string }
  /** The store will not take this settlement, in whatever group it comes. */
  | { readonly type: 'settle.refused'; readonly job: string; readonly epoch: number }
  /** What an engine says of itself when it is asked. */
  | {
      readonly type: 'node.health'
      readonly status: string
      readonly reachable: boolean
      readonly running: number
      readonly slotsUsed: number
      readonly claims: number
      readonly uncertain: number
    }
  /** What a handler got, `input` as a digest, and whether its definition asks to be ended when its lease is uncertain. */
  | {
      readonly type: 'handler.began'
      readonly job: string
      readonly epoch: number
      readonly input: number
      readonly abortsUncertain: boolean
      /** The fencing token that it is given for other systems. */
      readonly fence: string
    }
  /** Its signal fired; `code` is that of the reason. */
  | {
      readonly type: 'handler.signalled'
      readonly job: string
      readonly epoch: number
      readonly code: string
    }
  | {
      readonly type: 'handler.ended'
      readonly job: string
      readonly epoch: number
      /** `neither`: it returned what has no JSON form. */
      readonly how: 'returned' | 'threw' | 'neither'
      /** What it threw forbids another attempt. */
      readonly permanent: boolean
      /** Digest of the JSON text that it returned; 0 for nothing. */
      readonly result: number
      /** Code of what it threw; null for nothing. */
      readonly error: string | null
      /** What ran, a letter each in its order: outer middleware, inner middleware, handler. */
      readonly calls: string
    }
  | { readonly type: 'run.healed'; readonly boundMs: number }
  | {
      readonly type: 'job.final'
      readonly job: string
      readonly state: JobState
      readonly attempt: number
      readonly failures: number
      readonly evictions: number
      readonly epoch: number
      readonly version: number
      /** Digest of the stored result; 0 for none. */
      readonly result: number
      /** Code of the stored error; null for none. */
      readonly error: string | null
    }
  /** `tokens`: of the claims whose rows are still there. */
  | { readonly type: 'run.ended'; readonly converged: boolean; readonly tokens: readonly string[] }

/** Only in benches with services of their own. */
export type ServiceEvent = {
  /** A service did what it was asked; the event is of the process that asked, whether that has heard of it or not. */
  readonly type: 'service.called'
  readonly service: string
  readonly call: string
  /** Whose handler asked, at which epoch; null for code outside of handlers. */
  readonly job: string | null
  readonly epoch: number | null
  /** As JSON says it; null for nothing. */
  readonly request: unknown
  readonly reply: unknown
  /** What it refused with, having changed nothing; null where it replied. */
  readonly error: string | null
}
