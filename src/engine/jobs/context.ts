import type { Lineage } from './record.ts'

/** What a handler gets. */
export interface AttemptContext<Input> {
  readonly input: Input
  readonly job: {
    readonly id: string
    readonly kind: string
    readonly queue: string
    readonly tenant: string | null
    /** As `dimension:VALUE`. */
    readonly keys: readonly string[]
    /** Which dead letter it replays; null if none. */
    readonly lineage: Lineage | null
    readonly metadata: Readonly<Record<string, string>>
    /** W3C trace context of the enqueue, or null. */
    readonly traceparent: string | null
  }
  readonly attempt: AttemptInfo
  /**
   * Fires when the attempt should end: `AttemptTimeout`, `EngineStopping`, `JobCancelled`, `LeaseLost` or
   * `LeaseUncertain` is its reason. After `LeaseLost` nothing that the handler does is kept.
   */
  readonly signal: AbortSignal
  /** Says how far the attempt is: percent 0 - 100. Throws `LeaseLost` once another attempt runs the job. */
  readonly progress: (percent: number, phase?: string) => Promise<void>
  /**
   * Durable notes that survive attempts, so that a retry resumes: reads the value kept under the key
   * (undefined if there is none), or with a value keeps it. Throws `LeaseLost` once another attempt runs.
   */
  readonly checkpoint: Checkpoint
  /**
   * Says something in the job's log, which keeps the last 2,000 lines of all its attempts as long as the job is kept:
   * `engine.logs` reads it. Never throws, and nothing is to be awaited: lines are sent in batches, and all that was said
   * is in the store before the attempt is settled. Lost is only what the store could not take within one store call of
   * the end (`log.lost` says so), and what is said by an attempt that is over, or whose job was taken over.
   */
  readonly log: Log
  /** Ends the attempt as succeeded in one transaction with what the handler writes. */
  readonly commit: Commit
  /** Waits `delayMs`; rejects with the signal's reason when it fires. */
  readonly sleep: (delayMs: number) => Promise<void>
}

export interface AttemptInfo {
  /** Counts claims: 1 for the first. One that was given back before its start counts too. */
  readonly number: number
  /** Failures charged so far. */
  readonly failures: number
  readonly evictions: number
  /** The fencing token: opaque, and ordered as text among attempts of one job. Hand it to other systems. */
  readonly fence: string
  /** False while this worker cannot vouch for its lease: another may be running the job. */
  readonly leaseCertain: boolean
}

/**
 * Runs `work` in a transaction of the store, settles the job as succeeded with what it answers as the last statement
 * of that, and commits: both are there, or neither. Answers what `work` answered. Then the attempt is over: whatever
 * the handler returns or throws afterwards is ignored, and `progress` and `checkpoint` throw `LeaseLost`. A handler calls it once, and writes through `tx` alone:
 *
 * - PostgreSQL: a client of `pg` in a transaction at READ COMMITTED. PGlite: its transaction. Both have
 *   `query(text, params)`; enqueue with `{ in: tx }` belongs to the transaction too.
 * - SQLite: the `Database` of better-sqlite3. `work` must be synchronous.
 * - memory: null, since there is nothing to write; what `work` does elsewhere is not undone.
 *
 * What `work` throws rolls back and is thrown on. Throws `LeaseLost` (rolled back: another attempt runs the job, or
 * has ended it), `CommitFailed` (the store failed, nothing was committed, the job runs again uncharged), the reason
 * of the signal once the attempt has timed out, and `InvalidArgument`. It must be done within a store call
 * (`callMs`). `work` runs again only where the store knows that it rolled back, as after a deadlock.
 */
export type Commit = <Tx = Queryable, R = unknown>(work: (tx: Tx) => R | Promise<R>) => Promise<R>

/** What `pg`, PGlite, and adapters to others have in common. */
export interface Queryable {
  query(text: string, params?: unknown[]): Promise<{ rows: unknown[] }>
}

/**
 * One line, at level `info`. The message may be anything: an error is shown with its stack. `fields` are shown as JSON
 * after it; `log.info(fields, message)`, as pino has it, is the same. A line is cut at 4 KiB of UTF-8. When they come
 * faster than the store takes them, 1,000 wait; what comes beyond is dropped, and a line in its place counts it.
 */
export interface Log extends LogAt {
  readonly debug: LogAt
  readonly info: LogAt
  readonly warn: LogAt
  readonly error: LogAt
}
export type LogAt = (message: unknown, fields?: unknown) => void

export interface Checkpoint {
  (key: string): Promise<unknown>
  (key: string, value: unknown): Promise<void>
}
