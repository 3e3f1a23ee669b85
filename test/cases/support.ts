import type { EngineEvent } from '../../src/engine/history.ts'
import { type JobOptions, defineJob } from '../../src/engine/jobs/definition.ts'
import type { AttemptContext } from '../../src/engine/jobs/context.ts'
import type { HandledJob } from '../../src/engine/jobs/definition.ts'
import type { Store } from '../../src/engine/ports/store.ts'
import { rawMemoryStore } from '../../src/stores/memory/index.ts'
import { rawSqliteStore } from '../../src/stores/sqlite/index.ts'
import {
  type Bench,
  type BenchOptions,
  type Database,
  type Gate,
  type OpenStore,
  bench,
  database,
  gate,
} from '../support/bench.ts'
import { type VirtualClock, virtualClock } from '../support/virtual-clock.ts'

/** The stores that every case of the engine is tried on. */
export const stores: readonly (readonly [string, OpenStore])[] = [
  ['memory', rawMemoryStore],
  ['SQLite', rawSqliteStore],
]

/** Processes on one database, which share a clock unless one is given a clock of its own. */
export interface Fleet {
  readonly clock: VirtualClock
  readonly database: Database
  /** A process; not started. */
  readonly process: (options?: BenchOptions) => Bench
  /** A process that only sweeps, started. */
  readonly sweeper: () => Promise<Bench>
  /** What all processes told so far, of one type. */
  readonly told: <T extends EngineEvent['type']>(type: T) => Extract<EngineEvent, { type: T }>[]
  /** Stops all processes without patience, moving the clock as far as that takes. */
  readonly stop: () => Promise<void>
}

export function fleet(open: OpenStore): Fleet {
  const clock = virtualClock()
  const base = database(clock, open)
  const processes: Bench[] = []
  const fleet: Fleet = {
    clock,
    database: base,
    process: (options = {}) => {
      const process = bench({ clock, database: base, queues: { default: { concurrency: 5 } }, ...options })
      processes.push(process)
      return process
    },
    sweeper: async () => {
      const process = fleet.process({ queues: {}, name: 'sweeper' })
      await process.engine.start()
      return process
    },
    told: (type) => processes.flatMap((process) => process.of(type)),
    stop: async () => {
      const stops = processes.map(({ engine }) => engine.stop({ drainMs: 0 }))
      await clock.advance(60_000)
      await Promise.all(stops)
    },
  }
  return fleet
}

/** A job whose handler waits for a gate of its own at every start. */
export interface Gated {
  readonly job: HandledJob
  readonly starts: AttemptContext<unknown>[]
  readonly gates: Gate<unknown>[]
}

export function gated(options: Partial<JobOptions<unknown, unknown>> = {}): Gated {
  const starts: AttemptContext<unknown>[] = []
  const gates: Gate<unknown>[] = []
  const run = (context: AttemptContext<unknown>): Promise<unknown> => {
    const wait = gate<unknown>()
    starts.push(context)
    gates.push(wait)
    return wait.promise
  }
  const retry = { backoff: { kind: 'constant', delayMs: 0 } } as const
  return { job: defineJob({ name: 'job', timeoutMs: 86_400_000, retry, ...options, run }), starts, gates }
}

/** Everything that the store holds but the outage watch, which moves whatever happens. */
export async function rows({ raw }: Database): Promise<unknown> {
  const { watch: _watch, ...rest } = await raw.dump()
  return rest
}

/** How many jobs are in each state. */
export async function states({ raw }: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { state } of (await raw.dump()).jobs) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

/** A claim by hand, of any kind named, from the queue `default`. */
export async function claimed(
  store: Store,
  { token, kinds = ['job'], limit = 1 }: { token: string; kinds?: readonly string[]; limit?: number },
): Promise<readonly string[]> {
  const queues = [{ queue: 'default', limit }]
  const reply = await store.claims.claim({ token, worker: token, limit, queues, kinds, solo: 'take' })
  return reply.kind === 'claimed' ? reply.jobs.map(({ spec }) => spec.id) : []
}
