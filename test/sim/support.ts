// Worlds to play with by hand, and scenarios of a few lines.
import type { HistoryEvent } from '../../src/engine/history.ts'
import type { Handler, JobDescription } from '../../src/engine/jobs/definition.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { Property } from '../../src/properties/property.ts'
import { standardProperties } from '../../src/properties/index.ts'
import { createBarrier, runFromMacrotask } from '../../src/sim/barrier.ts'
import { seededChooser } from '../../src/sim/chooser.ts'
import { createWire } from '../../src/sim/faults/wire.ts'
import { type Incarnation, type SimNode, startProcess } from '../../src/sim/node.ts'
import { type Step, createRecorder } from '../../src/sim/recorder.ts'
import { type RunOptions, type RunResult, run } from '../../src/sim/run.ts'
import type { Scenario, WorkStep } from '../../src/sim/scenarios/scenario.ts'
import { type World, createWorld } from '../../src/sim/world.ts'
import { rawMemoryStore } from '../../src/stores/memory/index.ts'

const barrier = createBarrier()

export interface HandWorld {
  readonly world: World
  readonly node: SimNode
  /** The process that runs on the node now. */
  readonly owner: () => Incarnation
  readonly story: () => readonly (HistoryEvent | Step)[]
  /** Runs `act` as an event does, draining what it sets off. */
  readonly act: <T>(act: () => T) => Promise<T>
  /** Fires all events up to a time. */
  readonly until: (atMs: number) => Promise<void>
}

/** A world with one machine, whose engine enqueues and never polls: nothing happens by itself. */
export async function handWorld(properties: readonly Property[] = []): Promise<HandWorld> {
  const node = simNode('w1', 1)
  const world = await createWorld({
    chooser: seededChooser(1n, false),
    store: rawMemoryStore,
    nodes: [node],
    recorder: (now) => createRecorder({ properties, keepStory: true, now, watch: () => {} }),
  })
  const act = async <T>(body: () => T): Promise<T> => {
    const results: T[] = []
    await runFromMacrotask(() => {
      results.push(body())
      barrier.drain()
      return false
    })
    return results[0] as T
  }
  await act(() => startProcess(world, node))
  return {
    world,
    node,
    owner: () => {
      if (!node.process) throw new TypeError('no process runs')
      return node.process
    },
    story: () => world.recorder.story ?? [],
    act,
    until: async (atMs) => {
      // A marker of the environment, first of its instant in the next millisecond.
      const marker = { reached: false }
      world.later(atMs + 1 - world.nowMs, 'marker', () => void (marker.reached = true))
      await runFromMacrotask(() => {
        while (!marker.reached && world.step()) barrier.drain()
        return false
      })
    },
  }
}

function simNode(name: string, index: number): SimNode {
  return {
    name,
    index,
    jobs: [],
    jobsOf: null,
    queues: {},
    intervals: undefined,
    retention: false,
    works: false,
    schedules: false,
    duties: [],
    rolling: null,
    skewMs: 0,
    pace: null,
    timers: null,
    refused: null,
    incarnations: 0,
    process: null,
    armed: [],
  }
}

/** What became of a call: `open` until it is answered. */
export interface Called {
  outcome: 'open' | 'ok' | 'refused' | 'reset'
  value: unknown
}

/** Inserts a job over the wire of a process, as its engine would. */
export function insert({ world }: HandWorld, owner: Incarnation, id: string): Called {
  const called: Called = { outcome: 'open', value: null }
  const wire = createWire(world, owner)
  wire.jobs.insert({ insertId: id, jobs: [{ spec: specOf(id), due: { delayMs: 0 } }] }).then(
    (value) => Object.assign(called, { outcome: 'ok', value }),
    (error: unknown) => {
      const { refused, reset } = world.database.errors
      Object.assign(called, { outcome: error === refused ? 'refused' : error === reset ? 'reset' : 'open' })
    },
  )
  return called
}

export async function isStored({ world }: HandWorld, id: string): Promise<boolean> {
  return (await world.database.raw.jobs.get({ id })) !== null
}

function specOf(id: string) {
  return {
    id,
    kind: 'work',
    queue: 'default',
    band: 2,
    input: 'null',
    inputVersion: 1,
    maxAttempts: 1,
    maxEvictions: 1,
    backoffMs: [1_000],
    jitter: false,
    leaseTtlMs: 30_000,
    timeoutMs: 60_000,
    tenant: null,
    keys: [],
    keepMs: 604_800_000,
    lineage: null,
    metadata: null,
    traceparent: null,
    enqueuedAtMs: 0,
  } as const
}

export interface SmallScenario extends Partial<Omit<Scenario, 'jobs' | 'workload'>> {
  readonly jobs?: readonly JobDescription[]
  readonly workload?: Scenario['workload']
}

/** Two workers, a minute, no faults. */
export function scenario(over: SmallScenario = {}): Scenario {
  return {
    name: 'small',
    says: 'a few lines',
    workers: 2,
    concurrency: 2,
    activeMs: 60_000,
    jobs: [],
    workload: () => [],
    families: [],
    swarm: false,
    ...over,
  }
}

/** `count` jobs, all run by `handler`. */
export function jobsOf(count: number, handler: Handler<unknown, unknown>): SmallScenario {
  const job = defineJob<unknown, unknown>({
    name: 'planted',
    retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 1_000 } },
    timeoutMs: 60_000,
    run: handler,
  })
  const step = (k: number): WorkStep => ({ atMs: 10 * k, job, input: { k }, options: { id: `j${k}` } })
  return { jobs: [job], workload: () => Array.from({ length: count }, (_, k) => step(k)) }
}

/** Runs a seed in this thread, on the memory store. */
export function play(over: Partial<RunOptions> & Pick<RunOptions, 'scenario'>): Promise<RunResult> {
  return run({ seed: 1n, store: rawMemoryStore, properties: standardProperties, ...over })
}
