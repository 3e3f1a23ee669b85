import { InvalidArgument, InvalidConfig } from './errors.ts'
import type { EngineEvent } from './history.ts'
import type { JobDescription } from './jobs/definition.ts'
import { type EnqueueOptions, type EnqueueRequest, type Enqueued, enqueueAll } from './jobs/enqueue.ts'
import { handlersOf } from './jobs/handlers.ts'
import type { JobRecord } from './jobs/record.ts'
import { requireName } from './jobs/text.ts'
import type { Clock } from './ports/clock.ts'
import { type Executor, inProcessExecutor } from './ports/executor.ts'
import type { Observer } from './ports/observer.ts'
import type { Random } from './ports/random.ts'
import type { Store } from './ports/store.ts'
import { createObservers } from './observers.ts'
import { type Running, type RunningReport, startRunning } from './running.ts'
import { type Intervals, intervalsOf, requireMargin } from './settings.ts'
import { createStoreHealth } from './store-health.ts'
import { systemClock, systemHostName, systemRandom } from './system.ts'

export interface EngineOptions {
  readonly store: Store
  /** Definitions; an engine claims only kinds that come with a handler. */
  readonly jobs?: readonly JobDescription[]
  /** Queues to work on. Without any the engine claims nothing, but still enqueues and, started, sweeps. */
  readonly queues?: Readonly<Record<string, { readonly concurrency: number }>>
  /** For people: part of the worker's identity in events and rows. Default: the machine's host name. */
  readonly name?: string
  readonly intervals?: Partial<Intervals>
  readonly observer?: Observer
  /** Ports; the defaults are the real ones. */
  readonly clock?: Clock
  readonly random?: Random
  readonly executor?: Executor
}

export interface Engine extends AsyncDisposable {
  readonly store: Store
  /** Stores one job. See `enqueueMany` for what it throws. */
  enqueue<Input>(job: JobDescription<Input>, input: Input, options?: EnqueueOptions): Promise<Enqueued>
  /** Stores all jobs or none, answering in their order. */
  enqueueMany(requests: readonly EnqueueRequest[]): Promise<Enqueued[]>
  get(id: string): Promise<JobRecord | null>
  /**
   * Begins to work. Waits until the store answers, trying again while it is unavailable, and for a stop
   * that is under way. Throws `InvalidConfig` if this fleet sweeps at another period. Repeated calls are one.
   */
  start(): Promise<void>
  /** Drains and stops; repeated and concurrent calls are one. The store stays open, and `start` works again. */
  stop(options?: StopOptions): Promise<void>
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
  /** `degraded`: the store does not answer, or a lease cannot be vouched for. */
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

export function createEngine(options: EngineOptions): Engine {
  const {
    store,
    queues = {},
    clock = systemClock,
    random = systemRandom,
    executor = inProcessExecutor,
  } = options
  const intervals = intervalsOf(options.intervals)
  const handlers = handlersOf(options.jobs ?? [])
  requireQueues(queues)
  for (const { name, settings } of options.jobs ?? []) {
    requireMargin(`job ${name}`, intervals, store.callMs, settings.leaseTtlMs)
  }
  const { emit, on } = createObservers(options.observer)
  const health = createStoreHealth(clock, emit)
  const name = options.name ?? systemHostName()
  requireName('an engine name', name, InvalidConfig)
  const parts = { name, store, clock, random, executor, intervals, handlers, emit, ask: health.ask }
  const producer = { store, clock, random, intervals, ask: health.ask }
  let running: Running | null = null

  const engine: Engine = {
    store,
    enqueue: async (job, input, rest) => {
      const [enqueued] = await engine.enqueueMany([{ ...rest, job, input }])
      return enqueued as Enqueued
    },
    enqueueMany: async (requests) => {
      const enqueued = await enqueueAll(producer, requests)
      running?.wake()
      return enqueued
    },
    get: (id) => health.ask('jobs.get', store.jobs.get({ id })),
    start: async () => {
      while (running?.stopping) await running.stopping
      const starting = (running ??= startRunning(parts, queues))
      try {
        await starting.started
      } catch (error) {
        if (running === starting) running = null
        throw error
      }
    },
    stop: async (rest) => {
      const drainMs = rest?.drainMs ?? 30_000
      if (!(drainMs >= 0)) throw new InvalidArgument(`drainMs must be >= 0, not ${drainMs}`)
      const stopping = running
      await stopping?.stop(drainMs)
      if (running === stopping) running = null
    },
    health: () => {
      const stored = health.report()
      const report = running?.report() ?? null
      return { status: statusOf(report, stored.reachable), store: stored, running: report }
    },
    on,
    [Symbol.asyncDispose]: () => engine.stop(),
  }
  return engine
}

function statusOf(report: RunningReport | null, reachable: boolean): Health['status'] {
  if (report === null) return 'stopped'
  if (report.phase !== 'running') return report.phase
  return reachable && report.worker.heartbeat.uncertain === 0 ? 'ok' : 'degraded'
}

function requireQueues(queues: Readonly<Record<string, { readonly concurrency: number }>>): void {
  for (const [queue, { concurrency }] of Object.entries(queues)) {
    requireName('a queue name', queue, InvalidConfig)
    if (!Number.isSafeInteger(concurrency) || concurrency < 0) {
      throw new InvalidConfig(`queue ${queue}: concurrency must be a whole number >= 0, not ${concurrency}`)
    }
  }
}
