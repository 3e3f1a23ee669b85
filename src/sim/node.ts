import { type Engine, createEngine } from '../engine/engine.ts'
import type { JobDescription } from '../engine/jobs/definition.ts'
import type { Executor } from '../engine/ports/executor.ts'
import type { Random } from '../engine/ports/random.ts'
import type { Intervals } from '../engine/settings.ts'
import { resilient } from '../stores/resilient.ts'
import { createNodeClock } from './clock/node-clock.ts'
import type { WorldEvent } from './clock/queue.ts'
import type { Fault } from './faults/fault.ts'
import { createWire } from './faults/wire.ts'
import type { World } from './world.ts'

/** A simulated machine: its name stays, its processes come and go. */
export interface SimNode {
  readonly name: string
  /** Place in the default order of events; the environment is 0. */
  readonly index: number
  readonly jobs: readonly JobDescription[]
  readonly queues: Readonly<Record<string, { readonly concurrency: number }>>
  readonly intervals: Partial<Intervals> | undefined
  /** Whether its engine is started, or only enqueues. */
  readonly works: boolean
  skewMs: number
  incarnations: number
  process: Incarnation | null
  /** Message faults that wait for a call to strike. */
  readonly armed: Fault[]
}

export interface RunningHandler {
  readonly job: string
}

/** One simulated process. When it dies its ports go dead first: nothing it does afterwards reaches anything. */
export interface Incarnation {
  readonly node: SimNode
  readonly number: number
  /** Name and number: which of all processes. */
  readonly who: string
  alive: boolean
  paused: boolean
  /** It was asked to stop. */
  stopping: boolean
  engine: Engine | null
  /** What came due while it was paused. */
  readonly deferred: WorldEvent[]
  /** Handlers running. */
  readonly handlers: Set<RunningHandler>
  /** How many of them wait for a port. */
  waits: number
  /** Handlers found to wait for nothing in this world. */
  hung: number
  ordinal: number
  /** Calls so far by name: they number the draws. */
  readonly calls: Map<string, number>
}

/** Starts a new process on the machine; answers its engine. */
export function startProcess(world: World, node: SimNode): Engine {
  node.incarnations += 1
  const owner: Incarnation = {
    node,
    number: node.incarnations,
    who: `${node.name}#${node.incarnations}`,
    alive: true,
    paused: false,
    stopping: false,
    engine: null,
    deferred: [],
    handlers: new Set(),
    waits: 0,
    hung: 0,
    ordinal: 0,
    calls: new Map(),
  }
  node.process = owner
  world.recorder.happened(owner, { type: 'node.started' })
  const clock = createNodeClock(
    world,
    owner,
    world.chooser.below(1_000_000, 'clock', node.name, 'origin', owner.number),
  )
  const engine = createEngine({
    store: resilient(createWire(world, owner), { clock }),
    name: node.name,
    jobs: node.jobs,
    queues: node.queues,
    ...(node.intervals && { intervals: node.intervals }),
    clock,
    random: createRandom(world, owner),
    executor: createExecutor(owner),
    observer: { event: (event) => world.recorder.happened(owner, event) },
  })
  owner.engine = engine
  if (node.works) engine.start().catch((error: unknown) => world.fail(error))
  return engine
}

export function crash(world: World, owner: Incarnation): void {
  world.recorder.happened(owner, { type: 'node.crashed' })
  owner.alive = false
  owner.deferred.length = 0
  owner.node.process = null
}

/** Stops the engine as a host would on SIGTERM; when it has stopped the process ends. */
export function shutDown(world: World, owner: Incarnation, drainMs: number, ended: () => void): void {
  owner.stopping = true
  const end = (): void => {
    if (!owner.alive) return
    owner.alive = false
    owner.node.process = null
    ended()
  }
  owner.engine?.stop({ drainMs }).then(end, world.fail)
}

export function pause(world: World, owner: Incarnation, forMs: number): void {
  world.recorder.happened(owner, { type: 'node.paused', forMs })
  owner.paused = true
}

export function resume(world: World, owner: Incarnation): void {
  if (!owner.alive || !owner.paused) return
  owner.paused = false
  world.recorder.happened(owner, { type: 'node.resumed' })
  for (const event of owner.deferred.splice(0)) world.again(event)
}

/** Ids are counters, told apart by node and incarnation; chance is the world's. */
function createRandom(world: World, owner: Incarnation): Random {
  const { index, name } = owner.node
  const counts = new Map<string, number>()
  const next = (stream: string): number => {
    const count = (counts.get(stream) ?? 0) + 1
    counts.set(stream, count)
    return count
  }
  return {
    id: (stream) => `${index}.${owner.number}.${next(stream)}`,
    unit: (stream) =>
      world.chooser.below(1_000_000, stream, name, String(owner.number), next(stream)) / 1_000_000,
  }
}

/** Runs handlers as the default does, counting them: one that waits for no port waits for the real world. */
function createExecutor(owner: Incarnation): Executor {
  return {
    run: async ({ id }, handler) => {
      const running = { job: id }
      owner.handlers.add(running)
      try {
        return await handler()
      } finally {
        owner.handlers.delete(running)
      }
    },
  }
}
