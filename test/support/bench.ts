import type { Engine, EngineOptions } from '../../src/engine/api.ts'
import { createEngine } from '../../src/engine/engine.ts'
import type { EngineEvent } from '../../src/engine/history.ts'
import type { JobRecord } from '../../src/engine/jobs/record.ts'
import type { Random } from '../../src/engine/ports/random.ts'
import type { InspectableStore, Store } from '../../src/engine/ports/store.ts'
import { rawMemoryStore } from '../../src/stores/memory/index.ts'
import { resilient } from '../../src/stores/resilient.ts'
import { type VirtualClock, virtualClock } from './virtual-clock.ts'
import { type Wire, wire } from './wire.ts'

/** A database: its content, and a time that moves with the clock of the test until it is made to jump. */
export interface Database {
  readonly raw: InspectableStore
  readonly nowMs: () => number
  readonly jump: (ms: number) => void
  readonly job: (id: string) => Promise<JobRecord>
}

export interface Bench {
  readonly clock: VirtualClock
  readonly database: Database
  readonly wire: Wire
  readonly engine: Engine
  readonly events: readonly EngineEvent[]
  of<T extends EngineEvent['type']>(type: T): Extract<EngineEvent, { type: T }>[]
}

export interface BenchOptions extends Partial<Omit<EngineOptions, 'store' | 'clock'>> {
  readonly clock?: VirtualClock
  readonly database?: Database
  /** Gives the engine the wire itself: no repeats and no bound stand between the test and the engine. */
  readonly bare?: boolean
}

const epochMs = 1_767_225_600_000

export type OpenStore = (time: { nowMs(): number }) => InspectableStore

export function database(clock: VirtualClock, open: OpenStore = rawMemoryStore): Database {
  let apartMs = 0
  const nowMs = (): number => epochMs + clock.nowMs + apartMs
  const raw = open({ nowMs })
  return {
    raw,
    nowMs,
    jump: (ms) => {
      apartMs += ms
    },
    job: async (id) => {
      const job = await raw.jobs.get({ id })
      if (!job) throw new Error(`no job ${id}`)
      return job
    },
  }
}

/** One engine (one process) on a database; several share a clock and a database. */
export function bench(options: BenchOptions = {}): Bench {
  const { clock = virtualClock(), bare = false, database: shared, ...given } = options
  const base = shared ?? database(clock)
  const connection = wire(base.raw, () => clock.nowMs)
  const store: Store = bare ? connection.store : resilient(connection.store, { clock })
  const events: EngineEvent[] = []
  const engine = createEngine({
    name: 'w',
    random: countingRandom(),
    observer: { event: (event) => void events.push(event) },
    ...given,
    store,
    clock,
  })
  return {
    clock,
    database: base,
    wire: connection,
    engine,
    events,
    of: (type) => events.filter((event) => event.type === type) as never,
  }
}

let processes = 0

/** Ids are counters, never repeated within a test run; chance is one half. */
function countingRandom(): Random {
  const process = ++processes
  let count = 0
  return { id: (stream) => `${stream}-${process}-${++count}`, unit: () => 0.5 }
}

/** A promise with its ends outside. */
export interface Gate<T = void> {
  readonly promise: Promise<T>
  readonly open: (value: T) => void
  readonly fail: (reason: unknown) => void
}

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {}
  let fail: (reason: unknown) => void = () => {}
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { promise, open, fail }
}

export function never(): Promise<never> {
  return new Promise<never>(() => {})
}

/** What a promise fails with, taken up at once: for calls that fail while the test moves the clock. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`expected a rejection, got ${JSON.stringify(value)}`)
    },
    (error: unknown) => error,
  )
}

/** Stops the engine without patience, moving the clock as far as that takes. */
export async function stopNow({ engine, clock }: Bench): Promise<void> {
  const stopped = engine.stop({ drainMs: 0 })
  await clock.advance(60_000)
  await stopped
}
