import type { JobRecord, JobSpec, Outcome } from '../jobs/record.ts'

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
  /** Database time in ms since the Unix epoch. */
  readonly now: () => Promise<number>
  /** Creates or upgrades what the store needs. Safe to repeat, also by several processes at once. */
  readonly migrate: () => Promise<void>
  readonly close: () => Promise<void>
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
  readonly get: (params: { readonly id: string }) => Promise<JobRecord | null>
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

export interface WatchStore {
  /** States the sweep period of this fleet. The first to ask decides; answers what was decided. */
  readonly declare: (params: {
    readonly sweepMs: number
  }) => Promise<{ readonly sweepMs: number; readonly nowMs: number }>
  /**
   * Records that the store was seen. `lastReplyMs` is the database time of the sender's last reply and
   * `sinceReplyMs` its own elapsed time since, so that a move that lands more than `maxAgeMs` after it
   * was sent is refused.
   */
  readonly move: (params: WatchMoveParams) => Promise<WatchMoveReply>
}

export interface InsertParams {
  readonly insertId: string
  readonly jobs: readonly NewJob[]
}
export interface NewJob {
  readonly spec: JobSpec
  /** Delay from the database's now, in ms; or an absolute instant that the user gave on purpose. */
  readonly due: { readonly delayMs: number } | { readonly atMs: number }
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
  /** The worker runs nothing: only then may a job on its last eviction be taken, alone. */
  readonly idle: boolean
}
export type ClaimReply =
  | {
      readonly kind: 'claimed'
      readonly jobs: readonly ClaimedJob[]
      /** A job on its last eviction was passed over because the worker is not idle. */
      readonly soloWaiting: boolean
    }
  | { readonly kind: 'void' }

export interface ClaimedJob {
  readonly spec: JobSpec
  readonly epoch: number
  readonly attempt: number
  readonly failures: number
  readonly evictions: number
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
}
export interface RenewReply {
  readonly held: readonly JobEpoch[]
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
  readonly state: 'queued' | 'failed'
}
export interface TimeoutReply {
  readonly jobs: readonly TimedOut[]
}

export interface TimedOut {
  readonly id: string
  /** Epoch after the timeout. */
  readonly epoch: number
  readonly failures: number
  readonly state: 'queued' | 'failed'
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
