import type { JobState, Outcome } from './jobs/record.ts'
import type { Settled } from './ports/store.ts'

/**
 * The vocabulary of observable events (types only). Properties are folds over these; nothing else of the
 * engine is visible to them. `StoreEvent`s say what an operation did to the store, `EngineEvent`s what one
 * engine did, `WorldEvent`s what the environment did to them.
 */
export type HistoryEvent = (StoreEvent | EngineEvent | WorldEvent) & Where
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
      readonly queue: string
      readonly band: number
      readonly maxAttempts: number
      readonly maxEvictions: number
      readonly leaseTtlMs: number
      readonly timeoutMs: number
      readonly backoffMsMax: number
      readonly dueMs: number
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
      readonly settled: Settled
      readonly repeated: boolean
      readonly state: JobState | null
    }
  | {
      readonly type: 'job.reclaimed'
      readonly job: string
      readonly epoch: number
      readonly evictions: number
      readonly state: 'queued' | 'failed'
    }
  | { readonly type: 'reclaim.heldBack'; readonly leases: number }
  | {
      readonly type: 'job.timedOut'
      readonly job: string
      readonly epoch: number
      readonly failures: number
      readonly state: 'queued' | 'failed'
    }
  | {
      readonly type: 'watch.moved'
      readonly kind: 'moved' | 'restarted' | 'refused'
      readonly seenSinceMs: number
    }

export type EngineEvent =
  | { readonly type: 'engine.started'; readonly worker: string }
  | { readonly type: 'engine.stopped'; readonly worker: string }
  | { readonly type: 'claim.unknown'; readonly token: string }
  | {
      readonly type: 'attempt.started'
      readonly job: string
      readonly epoch: number
      readonly attempt: number
    }
  | {
      readonly type: 'attempt.ended'
      readonly job: string
      readonly epoch: number
      readonly end: Outcome['kind']
    }
  | { readonly type: 'attempt.uncertain'; readonly job: string; readonly epoch: number }
  | { readonly type: 'attempt.certain'; readonly job: string; readonly epoch: number }
  | { readonly type: 'attempt.lost'; readonly job: string; readonly epoch: number }
  | { readonly type: 'attempt.abandoned'; readonly job: string; readonly epoch: number }
  | {
      readonly type: 'attempt.confirmed'
      readonly job: string
      readonly epoch: number
      readonly settled: Settled
    }
  | { readonly type: 'store.failed'; readonly call: string; readonly sent: 'no' | 'maybe' }
  | { readonly type: 'observer.failed'; readonly message: string }

export type WorldEvent =
  | {
      readonly type: 'run.started'
      readonly sweepMs: number
      readonly storeCallMs: number
      readonly replyMs: number
    }
  | {
      readonly type: 'fault.struck'
      readonly fault: string
      readonly family: string
      readonly call: string | null
    }
  | { readonly type: 'node.started' }
  | { readonly type: 'node.crashed' }
  | { readonly type: 'node.paused'; readonly forMs: number }
  | { readonly type: 'node.resumed' }
  | { readonly type: 'database.down'; readonly forMs: number }
  | { readonly type: 'database.up' }
  | { readonly type: 'enqueue.acknowledged'; readonly job: string }
  | { readonly type: 'run.healed'; readonly boundMs: number }
  | {
      readonly type: 'job.final'
      readonly job: string
      readonly state: JobState
      readonly attempt: number
      readonly failures: number
      readonly evictions: number
      readonly epoch: number
    }
  | { readonly type: 'run.ended'; readonly converged: boolean }
