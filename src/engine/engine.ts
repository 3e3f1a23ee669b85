import type { Engine, EngineOptions, Health } from './api.ts'
import { createDeadLetters } from './dead-letters/dead-letters.ts'
import { InvalidArgument, InvalidConfig } from './errors.ts'
import { type Names, optionsOf, requireFunction, shown } from './given.ts'
import { createCoalescer } from './jobs/coalesce.ts'
import type { JobDescription } from './jobs/definition.ts'
import {
  type EnqueueOptions,
  type InTransaction,
  enqueueAll,
  enqueueOne,
  enqueueOptions,
} from './jobs/enqueue.ts'
import { handlersOf } from './jobs/handlers.ts'
import { defaultKeepMs } from './jobs/job-settings.ts'
import { payloadsOf, plainRecord } from './jobs/payloads.ts'
import { createQueries } from './jobs/queries.ts'
import { requireId, requireName } from './jobs/text.ts'
import { inProcessExecutor } from './ports/executor.ts'
import { runExclusive } from './leases/exclusive.ts'
import { createLeaders } from './leases/leaders.ts'
import { createLogs } from './logs/reader.ts'
import { createObservers } from './observers.ts'
import { createOperations } from './operations.ts'
import { EnqueuedJob } from './results/enqueued.ts'
import { type ResultOptions, createResults } from './results/results.ts'
import { retentionOf } from './retention/options.ts'
import { createRetention } from './retention/retention.ts'
import { type Running, type RunningReport, startRunning } from './running.ts'
import { requireOptions } from './options.ts'
import { type Resting, restState } from './rest-state.ts'
import { intervalsOf, requireMargin } from './settings.ts'
import { fireDue } from './schedules/firing.ts'
import { createSchedules } from './schedules/schedules.ts'
import { tick } from './recovery/tick.ts'
import { createStoreHealth } from './store-health.ts'
import { systemClock, systemHostName, systemRandom } from './system.ts'

const inTransaction: Names<EnqueueOptions & InTransaction> = { in: true, ...enqueueOptions }

export function createEngine(options: EngineOptions): Engine {
  requireOptions(options)
  const {
    store,
    queues = {},
    clock = systemClock,
    random = systemRandom,
    executor = inProcessExecutor,
  } = options
  const intervals = intervalsOf(options.intervals)
  const handlers = handlersOf(options.jobs ?? [])
  for (const { name, settings } of options.jobs ?? []) {
    requireMargin(`job ${name}`, intervals, store.callMs, settings.leaseTtlMs)
  }
  const { emit, on, measure } = createObservers(options.observer)
  const health = createStoreHealth(clock, emit, measure)
  const name = options.name ?? systemHostName()
  requireName('an engine name', name, InvalidConfig)
  const { only } = options
  if (only !== undefined) requireName('only', only, InvalidConfig)
  const middleware = options.middleware ?? []
  const payloads = payloadsOf(options.codec)
  const retention = createRetention({
    store,
    clock,
    random,
    ask: health.ask,
    measure,
    settings: retentionOf(options.retention),
    keepMs: shortestKept(options.jobs ?? []),
  })
  const parts = {
    name,
    only,
    middleware,
    payloads,
    store,
    clock,
    random,
    executor,
    intervals,
    handlers,
    emit,
    measure,
    ask: health.ask,
    firesSchedules: options.schedules ?? true,
    keeps: (keepMs: number) => retention.knows(keepMs),
  }
  const producer = { store, clock, random, intervals, payloads, ask: health.ask }
  const coalescer = createCoalescer(producer)
  const results = createResults({ ...producer, on })
  const leaseParts = { store, clock, ask: health.ask, emit }
  const newOwner = (): string => `${name}~${random.id('owner')}`
  const leaders = createLeaders({ ...leaseParts, newOwner, graceMs: intervals.abandonMs })
  let running: Running | null = null
  let stops = 0

  function requireLease(key: string, work: unknown, ttlMs: number): void {
    requireName('a lease key', key, InvalidArgument)
    requireFunction('work', work, InvalidArgument)
    // Two store calls must fit into it: a renewal, and the one after that if it fails.
    if (Number.isSafeInteger(ttlMs) && ttlMs > 2 * store.callMs) return
    throw new InvalidArgument(
      `ttlMs must be a whole number of ms over two store calls (${2 * store.callMs}), not ${shown(ttlMs)}`,
    )
  }

  const wake = (): void => running?.wake()
  const operations = createOperations(store, random, health.ask, wake, results.look)

  const engine: Engine & Resting = {
    ...operations,
    ...createQueries(store, payloads, health.ask),
    store,
    schedules: createSchedules(producer, () => running?.look()),
    deadLetters: createDeadLetters({ store, clock, random, payloads, ask: health.ask, changed: wake }),
    enqueue: async (job, input, rest) => {
      const { in: client, ...options } = optionsOf(rest, inTransaction)
      const request = { ...options, job, input }
      if (client !== undefined) {
        const [enqueued] = await engine.enqueueMany([request], { in: client })
        return enqueued as EnqueuedJob<never>
      }
      const enqueued = await enqueueOne(producer, coalescer, request)
      running?.wake()
      return new EnqueuedJob(enqueued, results)
    },
    enqueueMany: async (requests, rest) => {
      const { in: client } = optionsOf(rest, { in: true })
      const enqueued = await enqueueAll(producer, requests, client)
      // What is not committed yet is not to be seen yet.
      if (client === undefined) running?.wake()
      return enqueued.map((job) => new EnqueuedJob(job, results))
    },
    get: async (id) => {
      requireId(id)
      const job = await health.ask('jobs.get', store.jobs.get({ id }))
      return job && plainRecord(payloads, job)
    },
    result: <Result>(id: string, rest?: ResultOptions) => results.wait(id, rest) as Promise<Result>,
    logs: createLogs(producer),
    start: async () => {
      const stopsBefore = stops
      while (running?.stopping) await running.stopping
      // Whoever asked for the end after this start was asked for must not find the engine working.
      if (stops > stopsBefore) return
      const starting = (running ??= startRunning(parts, queues, leaders, retention))
      try {
        await starting.started
      } catch (error) {
        if (running === starting) running = null
        throw error
      }
    },
    stop: async (rest) => {
      const { drainMs = 30_000 } = optionsOf(rest, { drainMs: true })
      // Infinite is patience without end.
      if (!(typeof drainMs === 'number' && drainMs >= 0)) {
        throw new InvalidArgument(`drainMs must be a number of ms >= 0, not ${shown(drainMs)}`)
      }
      stops += 1
      const stopping = running
      await stopping?.stop(drainMs)
      if (running === stopping) running = null
    },
    tick: async () => {
      const onReturned = (): void => running?.wake()
      await tick({ ...parts, queues: Object.keys(queues) }, onReturned)
      if (parts.firesSchedules) await fireDue({ ...parts, onFired: onReturned })
      await retention.tick()
    },
    exclusive: async (key, work, rest) => {
      const { ttlMs = 30_000 } = optionsOf(rest, { ttlMs: true })
      requireLease(key, work, ttlMs)
      return runExclusive(leaseParts, { key, owner: newOwner(), ttlMs }, work)
    },
    lead: (key, work, rest) => {
      const { ttlMs = 60_000 } = optionsOf(rest, { ttlMs: true })
      requireLease(key, work, ttlMs)
      return leaders.add({ key, ttlMs, work })
    },
    health: () => {
      const stored = health.report()
      const report = running?.report() ?? null
      return { status: statusOf(report, stored.reachable), store: stored, running: report }
    },
    on,
    [Symbol.asyncDispose]: () => engine.stop(),
    [restState]: () => (results.waiting > 0 ? null : running ? running.atRest() : {}),
  }
  return engine
}

/** Of an engine without definitions: what those of others say unless they say otherwise. */
function shortestKept(jobs: readonly JobDescription[]): number {
  return jobs.length === 0 ? defaultKeepMs : Math.min(...jobs.map(({ settings }) => settings.keepMs))
}

function statusOf(report: RunningReport | null, reachable: boolean): Health['status'] {
  if (report === null) return 'stopped'
  if (report.phase !== 'running') return report.phase
  const works = reachable && report.worker.heartbeat.uncertain === 0 && report.wakeups.state !== 'down'
  return works ? 'ok' : 'degraded'
}
