import type { QueueCounts } from './ports/queries.ts'
import type { JobState, Lineage, Outcome } from './jobs/record.ts'
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

/** Told only where two releases are on one store. */
export type MembersEvent =
  /**
   * What is stated of a job, or seen of it in an answer or in the end, that only a newer release knows.
   */
  | {
      readonly type: 'job.members'
      readonly job: string
      /** Their digest; 0: there are none. */
      readonly beyond: number
      /** It was made just now; else it is seen. */
      readonly stated: boolean
      /** The dead letter that it replays, or the schedule that made it; null for all others. */
      readonly replays: string | null
      readonly schedule: string | null
    }
  /** The same of a schedule; `jobs`: within what it says of the jobs that it makes. */
  | {
      readonly type: 'schedule.members'
      readonly key: string
      readonly beyond: number
      readonly jobs: number
      readonly stated: boolean
    }

export type StoreEvent =
  | MembersEvent
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
  | { readonly type: 'queues.counted'; readonly queues: readonly QueueCounts[] }
  /** A dead letter became a new job, whose insertion is told before. */
  | {
      readonly type: 'job.replayed'
      readonly job: string
      /** Id of the new job. */
      readonly as: string
      /** Names the call: a repeat of one that applied is answered the same again. */
      readonly token: string
      /** By this very execution: it was a dead letter until then. */
      readonly applied: boolean
      /** For how long it had been one, by the database; null where it was none. */
      readonly deadForMs: number | null
      /** Digest of all that its producer stated of it, but for its id and lineage. */
      readonly stated: number
      /** The same of the new job; null: there is none. */
      readonly copied: number | null
      /** Of the new job. */
      readonly lineage: Lineage | null
    }
  | {
      readonly type: 'replay.refused'
      readonly job: string
      readonly why: 'already' | 'refused' | 'later' | 'taken' | 'missing'
      /** As what it had been replayed; null: the answer does not say. */
      readonly as: string | null
    }
  /** `applied`: it was a dead letter until then. */
  | { readonly type: 'job.discarded'; readonly job: string; readonly applied: boolean }
  | { readonly type: 'discard.refused'; readonly job: string }
  /** `whole`: these are all that there are. */
  | { readonly type: 'dead.listed'; readonly jobs: readonly string[]; readonly whole: boolean }
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
  /** Instants of schedules are by the clock of the database, in ms since the run started. */
  | {
      readonly type: 'schedule.put'
      readonly key: string
      readonly kind: 'put' | 'same' | 'refused'
      /** Either these two, or the two below; null for the others. */
      readonly cron: string | null
      readonly timeZone: string | null
      readonly everyMs: number | null
      readonly anchorMs: number | null
      /** A number: up to so many. */
      readonly catchUp: 'skip' | 'latest' | number
      readonly nextMs: number | null
    }
  | { readonly type: 'schedule.removed'; readonly key: string; readonly removed: boolean }
  | {
      readonly type: 'schedule.paused'
      readonly key: string
      readonly paused: boolean
      readonly applied: boolean
      readonly nextMs: number | null
    }
  | {
      readonly type: 'schedule.fired'
      readonly key: string
      readonly outcome: 'fired' | 'stands' | 'lost' | 'early'
      readonly slots: readonly number[]
      /** The ids of their jobs. */
      readonly jobs: readonly string[]
      readonly nextMs: number | null
    }
  /** Lines of an attempt: `lines` counts them within it, `texts` are their digests. Taken: those that are new to the log. */
  | {
      readonly type: 'log.appended'
      readonly job: string
      readonly epoch: number
      readonly lines: readonly number[]
      readonly texts: readonly number[]
      readonly applied: boolean
    }
  | { readonly type: 'control.changed'; readonly hold: boolean; readonly paused: readonly string[] }
  /** An operator said that the store was restored from a backup; what ran then is told right after it. */
  | {
      readonly type: 'timeline.began'
      readonly timeline: number
      /** Names the call: a repeat of one that applied is answered the same again, and takes nothing. */
      readonly token: string
    }
  /** It ran when the backup was made, and goes back uncharged. */
  | {
      readonly type: 'job.takenBack'
      readonly job: string
      readonly epoch: number
      readonly state: 'queued' | 'cancelled'
    }

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
  /**
   * Lines of an attempt that may not be in its log: the attempt was over (`fenced`: it was taken over, or had ended), the
   * store did not answer in time, or would not take them.
   */
  | {
      readonly type: 'log.lost'
      readonly job: string
      readonly epoch: number
      readonly lines: number
      readonly why: 'fenced' | 'unavailable' | 'refused'
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
  /** A schedule that this process cannot fire, since it does not understand what it says; others may. */
  | { readonly type: 'schedule.unreadable'; readonly key: string; readonly message: string }
  /** `answered`: the store was reached, and will not do it. */
  | { readonly type: 'store.failed'; readonly call: string; readonly sent: 'no' | 'maybe' | 'answered' }
  | { readonly type: 'observer.failed'; readonly message: string }

export type WorldEvent =
  | MembersEvent
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
  /** Where two releases are on one store: of which the process is. */
  | { readonly type: 'release.began'; readonly newer: boolean }
  | { readonly type: 'node.stopping'; readonly drainMs: number }
  | { readonly type: 'node.crashed' }
  | { readonly type: 'node.paused'; readonly forMs: number }
  | { readonly type: 'node.resumed' }
  | { readonly type: 'database.down'; readonly forMs: number }
  | { readonly type: 'database.up' }
  /** What is in it was copied, to be put back one day. */
  | { readonly type: 'database.backedUp' }
  /** What is in it is what was in it at `toMs`, under hold; its clock goes on. */
  | { readonly type: 'database.restored'; readonly toMs: number }
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
  /** An operator replays all dead letters there are, through the engine of this process; until it is over. */
  | { readonly type: 'replay-all.began' }
  | { readonly type: 'replay-all.ended' }
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
  /** An operator begins to read the pages of a list: of one queue, or of all. */
  | { readonly type: 'jobs.listing'; readonly queue: string | null }
  /** He has read the last of them: the jobs as they came. */
  | { readonly type: 'jobs.listed'; readonly queue: string | null; readonly jobs: readonly string[] }
  /** A handler said a line; `text` is its digest. */
  | {
      readonly type: 'handler.said'
      readonly job: string
      readonly epoch: number
      readonly text: number
    }
  /** A producer waits for what becomes of a job. */
  | { readonly type: 'result.awaited'; readonly job: string }
  /** It was told: `value` with the digest of the result's JSON text, 0 for nothing, or the code of why not. */
  | {
      readonly type: 'result.told'
      readonly job: string
      readonly how: 'value' | 'failed' | 'cancelled' | 'missing' | 'timeout' | 'other'
      readonly result: number
      /** Of the job that failed; null for none. */
      readonly error: string | null
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
      /** It is a dead letter. */
      readonly dead: boolean
      readonly replayedAs: string | null
      readonly lineage: Lineage | null
    }
  /**
   * What a job has said, in the end: of each line that is kept its sequence, its attempt, and the digest of its text; 0
   * for a line with which the engine tells of others that were dropped.
   */
  | {
      readonly type: 'log.final'
      readonly job: string
      readonly next: number
      readonly ns: readonly number[]
      readonly epochs: readonly number[]
      readonly texts: readonly number[]
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
