import type { DeadLetters } from './dead-letters/dead-letters.ts'
import type { EngineEvent } from './history.ts'
import type { JobDescription } from './jobs/definition.ts'
import type { EnqueueOptions, EnqueueRequest, InTransaction } from './jobs/enqueue.ts'
import type { Queries } from './jobs/queries.ts'
import type { JobRecord } from './jobs/record.ts'
import type { Exclusive } from './leases/exclusive.ts'
import type { Leadership } from './leases/leaders.ts'
import type { Logs } from './logs/reader.ts'
import type { Operations } from './operations.ts'
import type { Clock } from './ports/clock.ts'
import type { Codec } from './ports/codec.ts'
import type { Executor } from './ports/executor.ts'
import type { Observer } from './ports/observer.ts'
import type { Random } from './ports/random.ts'
import type { Store } from './ports/store.ts'
import type { EnqueuedJob } from './results/enqueued.ts'
import type { ResultOptions } from './results/results.ts'
import type { RetentionOptions } from './retention/options.ts'
import type { RunningReport } from './running.ts'
import type { Intervals } from './settings.ts'
import type { Schedules } from './schedules/schedules.ts'
import type { Middleware } from './worker/middleware.ts'

/** What `createEngine` takes and answers. */

export interface EngineOptions {
  readonly store: Store
  /** Definitions; an engine claims only kinds that come with a handler. */
  readonly jobs?: readonly JobDescription[]
  /** Queues to work on. Without any the engine claims nothing, but still enqueues and, started, sweeps. */
  readonly queues?: Readonly<Record<string, { readonly concurrency: number }>>
  /** For people: part of the worker's identity in events and rows. Default: the machine's host name. */
  readonly name?: string
  /** The id of the one job that this engine claims, once, when it is due: for a process that is started for a job. */
  readonly only?: string
  readonly intervals?: Partial<Intervals>
  /** Whether it fires the schedules of the store while it runs, whatever it works on. Default true. */
  readonly schedules?: boolean
  /**
   * What has ended is removed when it was kept for its `keepMs`, by every started engine and by `tick`. `false`: not by
   * this engine.
   */
  readonly retention?: RetentionOptions | false
  readonly observer?: Observer
  /** Wraps every handler; the first is the outermost. */
  readonly middleware?: readonly Middleware[]
  /** How payloads are stored: encrypted, compressed. Every engine on the store needs one that reads the others'. */
  readonly codec?: Codec
  /** Ports; the defaults are the real ones. */
  readonly clock?: Clock
  readonly random?: Random
  readonly executor?: Executor
}

export interface Engine extends AsyncDisposable, Operations, Queries {
  readonly store: Store
  readonly schedules: Schedules
  /** Jobs that failed for good and wait for somebody. */
  readonly deadLetters: DeadLetters
  /** Stores one job. See `enqueueMany` for what it throws. */
  enqueue<Input, Result = unknown>(
    job: JobDescription<Input, Result>,
    input: Input,
    options?: EnqueueOptions & InTransaction,
  ): Promise<EnqueuedJob<Result>>
  /** Stores all jobs or none, answering in their order. */
  enqueueMany(requests: readonly EnqueueRequest[], options?: InTransaction): Promise<EnqueuedJob[]>
  /** The job as it is now, its payloads decoded. Throws `CodecFailed` if they cannot be. */
  get(id: string): Promise<JobRecord | null>
  /**
   * Waits until the job has ended, whoever runs it, and answers what its handler did (undefined for nothing). The store
   * is asked less and less often, every 5 s at last, for all that this engine waits for together; a job that ends in
   * this engine is known at once. Rejects with `JobFailed`, `JobCancelled`, `JobMissing`, `ResultTimeout`, `CodecFailed`,
   * or the signal's reason. An outage is waited for.
   */
  result<Result = unknown>(id: string, options?: ResultOptions): Promise<Result>
  /** What jobs have said. */
  readonly logs: Logs
  /**
   * Begins to work. Waits until the store answers, trying again while it is unavailable, and for a stop
   * that is under way; a stop that is asked for meanwhile ends the waiting, and nothing is started. Throws `InvalidConfig` if this fleet sweeps at another period. Repeated calls are one.
   */
  start(): Promise<void>
  /** Drains and stops; repeated and concurrent calls are one. The store stays open, and `start` works again. */
  stop(options?: StopOptions): Promise<void>
  /**
   * Runs work that only one process on the store may do at a time, under a named lease of `ttlMs` (default
   * 30,000). Null if somebody else is at it. Its signal fires when the lease may be somebody else's.
   */
  exclusive<R>(
    key: string,
    work: (exclusive: Exclusive) => Promise<R>,
    options?: { readonly ttlMs?: number },
  ): Promise<{ readonly value: R } | null>
  /**
   * Leads whenever it can: as long as this engine runs, it campaigns for the named lease of `ttlMs` (default
   * 60,000), and does the work while it is the leader. A follower asks every half `ttlMs`. The work's signal fires
   * when it leads no more; work that returns or throws steps down, and campaigns again. Ends with `stop` of the
   * answer; an engine that is stopped steps down, and campaigns again once it is started.
   */
  lead(
    key: string,
    work: (exclusive: Exclusive) => Promise<unknown>,
    options?: { readonly ttlMs?: number },
  ): Leadership
  /**
   * One turn of recovery, and a part of retention where that is due, for hosts that keep no timers: call it every
   * `sweepMs`. Without it, or a started engine, nothing that a dead worker held comes back, and no schedule fires.
   * Throws `InvalidConfig` as `start` does.
   */
  tick(): Promise<void>
  health(): Health
  /** Calls the listener at each event of the type; answers how to end that. */
  on<T extends EngineEvent['type']>(
    type: T,
    listener: (event: Extract<EngineEvent, { type: T }>) => void,
  ): () => void
}

export interface StopOptions {
  /** How long running attempts may go on; default 30,000. */
  readonly drainMs?: number
}

export interface Health {
  /** `degraded`: the store does not answer, a lease cannot be vouched for, or hints that something is due are down. */
  readonly status: 'stopped' | 'starting' | 'ok' | 'degraded' | 'stopping'
  readonly store: {
    reachable: boolean
    lastReplyAgoMs: number | null
    failuresInARow: number
    lastError: string | null
  }
  /** Null while the engine is not started. */
  readonly running: RunningReport | null
}
