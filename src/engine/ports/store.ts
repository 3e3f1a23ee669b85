import type { JobError, JobRecord, JobSpec, JobState, Outcome, Progress } from '../jobs/record.ts'
import type { DeadLetterStore } from './dead-letters.ts'
import type { LogLine, LogStore } from './logs.ts'
import type { QueryStore } from './queries.ts'
import type { RetentionStore } from './retention.ts'
import type { ScheduleRow, ScheduleStore } from './schedules.ts'

/**
 * Durable state. Every method is one atomic operation under one database time, which is fixed when the
 * operation begins and returned as nothing but facts about rows: callers state durations, never instants.
 *
 * Failures reject with `StoreUnavailable` (`sent: 'no' | 'maybe'`) or `InvalidArgument`. What may be
 * done after an unknown outcome stands beside each method in `stores/policy.ts`.
 */
export interface Store {
  readonly name: string
  /** Bound of one whole call in ms, its repeats and any wait for a connection included. */
  readonly callMs: number
  readonly jobs: JobStore
  readonly claims: ClaimStore
  readonly watch: WatchStore
  readonly leases: NamedLeaseStore
  readonly control: ControlStore
  readonly queries: QueryStore
  readonly schedules: ScheduleStore
  readonly deadLetters: DeadLetterStore
  readonly logs: LogStore
  readonly retention: RetentionStore
  /** Optional: shortens the wait until a job is found. Nothing depends on it. */
  readonly hints?: HintSource
  /**
   * Lets a handler's own writes and the success of its attempt be one transaction. A store without it settles a
   * success apart, and what a handler wrote elsewhere may then stand without one.
   */
  readonly commits?: CommitStore
  /**
   * Inserts in a transaction that the caller has begun with `client`, and ends: jobs that exist only if the
   * caller's rows do. A store without it cannot share a transaction. Throws `InvalidArgument` for what is no such
   * client, or has no transaction open.
   */
  readonly within?: (client: unknown) => InsertsWithin
  /** Database time in ms since the Unix epoch. */
  readonly now: () => Promise<number>
  /** Creates or upgrades what the store needs. Safe to repeat, also by several processes at once. */
  readonly migrate: () => Promise<Migrated>
  readonly close: () => Promise<void>
}

/** Versions of the tables as they were found and as they are now; 0 is none. */
export interface Migrated {
  readonly from: number
  readonly to: number
}

/** A store whose whole content can be read and put back: for tests and the bench. */
export interface InspectableStore extends Store {
  /** The canonical content: rows in key order, keys in a fixed order, no storage artefacts. */
  readonly dump: () => Promise<StoreDump>
  readonly snapshot: () => Promise<StoreSnapshot>
  readonly restore: (snapshot: StoreSnapshot) => Promise<void>
  readonly reset: () => Promise<void>
}

export interface StoreDump {
  readonly jobs: readonly JobRecord[]
  readonly claims: readonly {
    readonly token: string
    readonly worker: string | null
    readonly void: boolean
  }[]
  readonly leases: readonly LeaseRow[]
  readonly watch: WatchState | null
  readonly checkpoints: readonly { readonly id: string; readonly key: string; readonly value: string }[]
  readonly logs: readonly LogOfJob[]
  readonly named: readonly NamedLease[]
  readonly control: Control
  readonly schedules: readonly ScheduleRow[]
  /** How often the store was restored from a backup, and said so. */
  readonly timeline: number
}

/** `epoch` and `line` are those of the last line that was taken. */
export interface LogOfJob extends JobEpoch {
  readonly next: number
  readonly line: number
  readonly lines: readonly LogLine[]
}

/** Opaque to everyone but the store that made it. */
export interface StoreSnapshot {
  readonly store: string
  readonly content: unknown
}

export interface JobStore {
  /**
   * Inserts all jobs or, when one id is taken by a different job, none. `insertId` names this call: a
   * repeat of it answers `created: true` for the rows that its first try made.
   */
  readonly insert: (params: InsertParams) => Promise<InsertReply>
  /**
   * Ends attempts. Each settlement applies iff its job is running at its epoch. Answers in the order
   * given; rows are locked in id order.
   */
  readonly settle: (params: SettleParams) => Promise<SettleReply>
  /**
   * Takes back expired leases, longest expired first, whole lease rows at a time, as far as the outage
   * watch allows. `limit` (lease rows) <= 0 takes nothing.
   */
  readonly reclaim: (params: { readonly limit: number }) => Promise<ReclaimReply>
  /**
   * The backstop for attempts whose worker did not enforce their timeout: `timeoutMs + leaseTtlMs` after
   * the claim, under the same watch. `limit` (jobs) <= 0 takes nothing.
   */
  readonly expireTimeouts: (params: { readonly limit: number }) => Promise<TimeoutReply>
  /**
   * Takes back, as a reclaim does, running jobs that no lease row stands for any more (a partial restore, a
   * stray delete), once their claim is `silentMs` old and the outage watch has been quiet for as long. A job of
   * which nobody knows when it was claimed is never taken. The oldest claim first, then by insertion.
   * `limit` (jobs) <= 0 takes nothing.
   */
  readonly adopt: (params: { readonly limit: number; readonly silentMs: number }) => Promise<AdoptReply>
  readonly get: (params: { readonly id: string }) => Promise<JobRecord | null>
  /** What has become of these jobs, in the order asked; null where there is none. */
  readonly outcomes: (params: { readonly ids: readonly string[] }) => Promise<readonly (JobOutcome | null)[]>
  /**
   * For how long the longest due job of each queue has been due; null where none is. Whatever its kind, and
   * whether or not claiming is held. In the order asked; its cost does not grow with the backlog.
   */
  readonly queueAges: (params: { readonly queues: readonly string[] }) => Promise<readonly QueueAge[]>
  /** Asks for a job's end: a queued one ends at once, a running one is told at its next heartbeat. */
  readonly requestCancel: (params: { readonly id: string }) => Promise<CancelReply>
  /** Starts a failed or cancelled job anew, iff it is at `version`. `command` names this call, as `insertId` does. */
  readonly retry: (params: CommandParams) => Promise<CommandReply>
  /** Moves a queued job to `delayMs` from now, iff it is at `version`. */
  readonly reschedule: (params: CommandParams & { readonly delayMs: number }) => Promise<CommandReply>
  /** Fenced: applies iff the job is running at the epoch. */
  readonly progress: (params: JobEpoch & Progress) => Promise<Fenced>
  /** Keeps a JSON text under a key, across attempts. Fenced. */
  readonly checkpoint: (
    params: JobEpoch & { readonly key: string; readonly value: string },
  ) => Promise<Fenced>
  /** All checkpoints of a job, by key in UTF-8 order. */
  readonly checkpoints: (params: {
    readonly id: string
  }) => Promise<readonly { readonly key: string; readonly value: string }[]>
  /** Jobs that were created undispatched at least `olderMs` ago are queued, the first created first. `limit` <= 0: none. */
  readonly repairDispatch: (params: { readonly limit: number; readonly olderMs: number }) => Promise<{
    readonly ids: readonly string[]
  }>
}

/** Exclusive work by name. Unlike a job's, a lapsed named lease cannot be renewed: its work must have stopped. */
export interface NamedLeaseStore {
  /** Taken if it is free or lapsed; the holder does not get again what it holds. */
  readonly acquire: (params: NamedLeaseParams) => Promise<{ readonly acquired: boolean }>
  readonly renew: (params: NamedLeaseParams) => Promise<{ readonly held: boolean }>
  readonly release: (params: {
    readonly key: string
    readonly owner: string
  }) => Promise<{ readonly released: boolean }>
}

/** The operator's switches. They act in the claim itself. */
export interface ControlStore {
  /** Answers the switches after the change. */
  readonly set: (params: ControlChange) => Promise<Control>
  readonly get: () => Promise<Control>
  /**
   * The operator says that this store was restored from a backup: another timeline begins, hold is lifted, and what
   * ran goes back to its queue uncharged, all at once. No write of an attempt from before applies any more: of all jobs
   * that have not ended the epochs leap beyond those that were given out before. The timeline is at least
   * `timelineMin`: a number from outside of the backup, which knows of no restore before this one. `command` names this call: a repeat
   * of it begins no timeline more. Its cost grows with the jobs that have not ended; it is bounded as every call.
   */
  readonly restored: (params: RestoredParams) => Promise<RestoredReply>
}

/**
 * Tells an engine that jobs may have become due, so that it looks before its next poll. What is told may be late,
 * lost, doubled or in vain: polling alone finds every job.
 */
export interface HintSource {
  /** Begins to listen, and goes on until `close`, coming back by itself for as long as it takes. */
  readonly listen: (listener: HintListener) => { readonly close: () => Promise<void> }
}
export interface HintListener {
  /** The queues in which something may be due; null: in any. */
  readonly onHint: (queues: readonly string[] | null) => void
  /** Whether hints arrive from now on, and if not, why. Until it is told, they do not. */
  readonly onState: (up: boolean, why: string | null) => void
}

export interface ClaimStore {
  /**
   * Takes up to `limit` due jobs under a header row with the token `token` (its primary key) and one
   * lease row for each distinct TTL. Answers `void` and takes nothing if the token is already there.
   */
  readonly claim: (params: ClaimParams) => Promise<ClaimReply>
  /**
   * Settles a claim whose reply was lost: inserts a void header, so that a claim still on its way fails
   * whole, or finds the claim's header and answers its running jobs, their leases renewed.
   */
  readonly recover: (params: { readonly token: string; readonly worker: string }) => Promise<RecoverReply>
  /** Renews the lease rows of all tokens and answers the jobs still running under them. */
  readonly renew: (params: RenewParams) => Promise<RenewReply>
  /**
   * Removes claim rows that no running job bears any more, and void headers older than `voidMs`.
   */
  readonly collect: (params: {
    readonly limit: number
    readonly voidMs: number
  }) => Promise<{ readonly removed: number }>
}

export interface CommitStore {
  /**
   * Runs `work` in one transaction, whose last statement settles the attempt as succeeded, iff the job is running at
   * the epoch. What `work` answers as thrown undoes everything, and so does a fence that is gone (`lost`). `work`
   * runs again only after a transaction of which it is known that it was rolled back.
   */
  readonly transact: (params: TransactParams) => Promise<TransactReply>
  /**
   * Settles a transaction whose outcome is unknown. Waits for one in flight, and answers `committed` if it was.
   * Else it gives the job back, so that one which comes later finds the fence gone: `released`, by this call or by
   * an earlier one. `lost`: it was not committed, and others have moved on.
   */
  readonly confirm: (params: JobEpoch) => Promise<ConfirmReply>
}

/** Nothing here is ever repeated: an error leaves the transaction to the caller. */
export interface InsertsWithin {
  /** As `jobs.insert`; after a conflict the transaction is as it was before. */
  readonly insert: JobStore['insert']
  /** What the transaction sees under the id. */
  readonly get: (params: {
    readonly id: string
  }) => Promise<{ readonly spec: Pick<JobSpec, 'kind' | 'input'> } | null>
}

export interface WatchStore {
  /** States the sweep period of this fleet. The first to ask decides; answers what was decided. */
  readonly declare: (params: {
    readonly sweepMs: number
  }) => Promise<{ readonly sweepMs: number; readonly nowMs: number }>
  /**
   * Records that the store was seen. `lastReplyMs` is the database time of the sender's last reply and
   * `sinceReplyMs` its own elapsed time since, so that a move that lands more than `maxAgeMs` after it
   * was sent is refused. Its answer spares an idle fleet the reclaim: whoever sweeps asks for that only
   * where there is something silent.
   */
  readonly move: (params: WatchMoveParams) => Promise<WatchMoveReply>
}

export interface NamedLeaseParams {
  readonly key: string
  readonly owner: string
  readonly ttlMs: number
}
export interface NamedLease {
  readonly key: string
  readonly owner: string
  readonly expiresAtMs: number
}

export interface Control {
  /** Nothing is claimed. */
  readonly hold: boolean
  /** Queues of which nothing is claimed, in UTF-8 order. */
  readonly paused: readonly string[]
}
export interface RestoredParams {
  readonly command: string
  readonly timelineMin: number
}
export interface RestoredReply {
  readonly control: Control
  readonly timeline: number
  /** Jobs that ran, in order of insertion; empty for a repeat. */
  readonly taken: readonly {
    readonly id: string
    readonly epoch: number
    readonly state: 'queued' | 'cancelled'
  }[]
}
export type ControlChange = { readonly hold: boolean } | { readonly queue: string; readonly paused: boolean }

export interface JobOutcome {
  readonly state: JobState
  /** As it is stored; null of a job that has not succeeded, or answered nothing. */
  readonly result: string | null
  /** Why it failed, or failed last. */
  readonly error: JobError | null
}

export interface CommandParams {
  readonly id: string
  readonly version: number
  readonly command: string
}
export type CommandReply =
  | { readonly kind: 'applied'; readonly version: number }
  /** Another version, or a state in which it means nothing. */
  | { readonly kind: 'refused'; readonly version: number | null; readonly state: JobRecord['state'] | null }
export type CancelReply =
  | { readonly kind: 'cancelled' | 'requested' }
  | { readonly kind: 'ended'; readonly state: JobRecord['state'] }
  | { readonly kind: 'missing' }
export interface Fenced {
  readonly applied: boolean
}

export interface InsertParams {
  readonly insertId: string
  readonly jobs: readonly NewJob[]
}
export interface NewJob {
  readonly spec: JobSpec
  /** Delay from the database's now, in ms; or an absolute instant that the user gave on purpose. */
  readonly due: { readonly delayMs: number } | { readonly atMs: number } | { readonly undispatched: true }
}
export type InsertReply =
  | {
      readonly kind: 'inserted'
      readonly jobs: readonly { readonly id: string; readonly created: boolean }[]
    }
  | { readonly kind: 'conflict'; readonly ids: readonly string[] }

export interface ClaimParams {
  readonly token: string
  readonly worker: string
  readonly limit: number
  readonly queues: readonly { readonly queue: string; readonly limit: number }[]
  readonly kinds: readonly string[]
  /**
   * What becomes of a job on its last eviction. `take`: it is taken alone, for the worker runs nothing.
   * `await`: it stays, and nothing behind it is taken. `pass`: it stays, and is passed over.
   */
  readonly solo: 'take' | 'await' | 'pass'
  /** This job alone, if it is due and all else allows it: for a host that is there for one job. */
  readonly only?: string
}
export type ClaimReply =
  | {
      readonly kind: 'claimed'
      readonly jobs: readonly ClaimedJob[]
      /** The claim ended before a job on its last eviction; never so under `pass`. */
      readonly soloWaiting: boolean
    }
  | { readonly kind: 'void' }

export interface ClaimedJob {
  readonly spec: JobSpec
  readonly epoch: number
  readonly attempt: number
  readonly failures: number
  readonly evictions: number
  /** For how long it had been due when it was claimed, in ms; null from a recovery, which cannot tell. */
  readonly waitedMs: number | null
  /** Its insertion sequence. */
  readonly seq: number
}
export interface QueueAge {
  readonly queue: string
  readonly oldestDueMs: number | null
}
export type RecoverReply =
  | { readonly kind: 'voided' }
  | { readonly kind: 'recovered'; readonly jobs: readonly ClaimedJob[] }

export interface RenewParams {
  readonly worker: string
  readonly tokens: readonly string[]
}
export interface JobEpoch {
  readonly id: string
  readonly epoch: number
  /** Its insertion sequence, as the claim said it: once a job was removed, its id may be that of another. */
  readonly seq?: number
}
export interface RenewReply {
  readonly held: readonly (JobEpoch & { readonly cancel: boolean })[]
}

export interface SettleParams {
  readonly worker: string
  readonly settlements: readonly Settlement[]
}
export interface Settlement {
  readonly id: string
  readonly epoch: number
  readonly outcome: Outcome
  /** An earlier send of this settlement had an unknown outcome. */
  readonly repeated: boolean
  /**
   * The claim that began the attempt, and what it said of the job: a store may find the job by these, and settles no
   * other that has come by its id. Both are needed to find it: after a restored backup another job may have the
   * sequence; without a token it is found by its id.
   */
  readonly claimed?: { readonly token: string | null; readonly seq: number }
}
/**
 * `applied`: the row bears this outcome (by this call or, for a repeat, by an earlier one).
 * `lost`: the row was not running at this epoch; nothing changed.
 * `superseded`: a repeat found that others have moved on; whether the first send applied is unknown.
 */
export type Settled = 'applied' | 'lost' | 'superseded'
export interface SettleReply {
  readonly results: readonly { readonly settled: Settled; readonly state: JobRecord['state'] | null }[]
}

export interface TransactParams extends JobEpoch {
  /** `tx`: what the store has for it, as `commit` says to handlers. Never throws. */
  readonly work: (tx: unknown) => Worked | Promise<Worked>
}
/** The result as it is stored, or what was thrown instead. */
export type Worked = { readonly result: string | null } | { readonly thrown: unknown }
export type TransactReply =
  | { readonly kind: 'committed' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'thrown'; readonly error: unknown }

export interface ConfirmReply {
  readonly kind: 'committed' | 'released' | 'lost'
  /** Of the job now. */
  readonly state: JobRecord['state'] | null
}

export interface ReclaimReply {
  readonly jobs: readonly Reclaimed[]
  /** Expired lease rows that the outage watch kept from being taken. */
  readonly heldBack: number
  /** There may be more to take. */
  readonly full: boolean
}
export interface Reclaimed {
  readonly id: string
  /** Epoch after the reclaim. */
  readonly epoch: number
  readonly evictions: number
  readonly state: 'queued' | 'failed' | 'cancelled'
}
export interface AdoptReply {
  readonly jobs: readonly Reclaimed[]
}
export interface TimeoutReply {
  readonly jobs: readonly TimedOut[]
}

export interface TimedOut {
  readonly id: string
  /** Epoch after the timeout. */
  readonly epoch: number
  readonly failures: number
  readonly state: 'queued' | 'failed' | 'cancelled'
}

export interface WatchMoveParams {
  readonly lastReplyMs: number
  readonly sinceReplyMs: number
  readonly maxAgeMs: number
}
export interface WatchMoveReply {
  readonly kind: 'moved' | 'restarted' | 'refused'
  readonly nowMs: number
  readonly seenSinceMs: number
  /** Some lease row is silent as of now: `jobs.reclaim` would take it, or hold it back. */
  readonly silent: boolean
}
export interface WatchState {
  readonly sweepMs: number
  readonly seenSinceMs: number | null
  readonly seenAtMs: number | null
}

export interface LeaseRow {
  readonly token: string
  readonly ttlMs: number
  readonly worker: string
  readonly expiresAtMs: number
}
