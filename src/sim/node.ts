import type { Engine } from '../engine/api.ts'
import { createEngine } from '../engine/engine.ts'
import type { EventOf } from '../engine/history.ts'
import { type JobDescription, isHandled } from '../engine/jobs/definition.ts'
import type { Executor } from '../engine/ports/executor.ts'
import type { Random } from '../engine/ports/random.ts'
import type { RetentionOptions } from '../engine/retention/options.ts'
import type { Intervals } from '../engine/settings.ts'
import { resilient } from '../stores/resilient.ts'
import { createNodeClock } from './clock/node-clock.ts'
import { type Pace, paced } from './clock/pace.ts'
import type { WorldEvent } from './clock/queue.ts'
import type { Store } from '../engine/ports/store.ts'
import { afterUnknown } from '../stores/policy.ts'
import { type Duty, keepDuty } from './duty.ts'
import type { Fault } from './faults/fault.ts'
import { createWire } from './faults/wire.ts'
import { type AnyPorts, createPorts, isServiceReply } from './services/port.ts'
import { type Rolling, releaseOf } from './releases.ts'
import { createWitness } from './witness.ts'
import type { World } from './world.ts'

/** A simulated machine: its name stays, its processes come and go. */
export interface SimNode {
  readonly name: string
  /** Place in the default order of events; the environment is 0. */
  readonly index: number
  readonly jobs: readonly JobDescription[]
  /** Makes the jobs of one process, over its own ports; null: they are the same for all. */
  readonly jobsOf: ((ports: AnyPorts) => readonly JobDescription[]) | null
  readonly queues: Readonly<Record<string, { readonly concurrency: number }>>
  readonly intervals: Partial<Intervals> | undefined
  readonly retention: RetentionOptions | false
  /** Whether its engine is started, or only enqueues. */
  readonly works: boolean
  /** Whether it fires schedules. */
  readonly schedules: boolean
  /** Null: its processes are all of one release. */
  readonly rolling: Rolling | null
  /** Work of its own, beside jobs. */
  readonly duties: readonly Duty[]
  skewMs: number
  /** Null: its clock was always right. */
  pace: Pace | null
  /** Set while its timers, or only those of one label, are early or late. */
  timers: { readonly lateMs: number; readonly only: string | null } | null
  /** Set while it cannot connect to the database. */
  refused: Fault | null
  incarnations: number
  process: Incarnation | null
  /** Faults that wait for a call, or for a handler, to strike. */
  readonly armed: Fault[]
}

export interface RunningHandler {
  readonly job: string
  readonly epoch: number
}

/** One simulated process. When it dies its ports go dead first: nothing it does afterwards reaches anything. */
export interface Incarnation {
  readonly node: SimNode
  readonly number: number
  /** Name and number: which of all processes. */
  readonly who: string
  alive: boolean
  paused: boolean
  /** It stands still because something keeps its event loop busy: then its timers are served before its replies. */
  blocked: boolean
  /** It was asked to stop. */
  stopping: boolean
  /** By what: it says when the next process starts. */
  stoppedBy: Fault | null
  engine: Engine | null
  /** What came due while it was paused. */
  readonly deferred: WorldEvent[]
  /** Handlers running. */
  readonly handlers: Set<RunningHandler>
  /** The handler that is being called. */
  entering: RunningHandler | null
  /** How many of them wait for a port. */
  waits: number
  /** Handlers found to wait for nothing in this world. */
  hung: number
  ordinal: number
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
    blocked: false,
    stopping: false,
    stoppedBy: null,
    engine: null,
    deferred: [],
    handlers: new Set(),
    entering: null,
    waits: 0,
    hung: 0,
    ordinal: 0,
  }
  node.process = owner
  world.recorder.happened(owner, { type: 'node.started', ...abilitiesOf(node) })
  const clock = createNodeClock(
    world,
    owner,
    world.chooser.below(1_000_000, 'clock', node.name, 'origin', owner.number),
  )
  const jobs = node.jobsOf ? node.jobsOf(createPorts(world, owner, clock)) : node.jobs
  const witness = createWitness(world, owner, clock, jobs)
  const release = releaseOf(world, owner)
  const store = countingWaits(owner, resilient(createWire(world, owner), { clock }))
  const engine = createEngine({
    store: release?.around(store) ?? store,
    name: node.name,
    jobs: witness.jobs,
    queues: node.queues,
    schedules: node.schedules,
    ...(node.intervals && { intervals: node.intervals }),
    retention: node.retention,
    clock,
    random: createRandom(world, owner),
    executor: createExecutor(world, owner),
    middleware: witness.middleware,
    observer: { event: (event) => world.recorder.happened(owner, event) },
  })
  owner.engine = engine
  if (node.works) engine.start().catch((error: unknown) => world.fail(error))
  for (const duty of node.duties) keepDuty(world, owner, clock, duty)
  release?.started()
  return engine
}

function abilitiesOf({ works, queues, jobs }: SimNode): Pick<EventOf<'node.started'>, 'queues' | 'kinds'> {
  const entries = Object.entries(queues).map(([queue, { concurrency }]) => [queue, concurrency] as const)
  return {
    queues: Object.fromEntries(entries),
    kinds: works ? jobs.filter(isHandled).map(({ name }) => name) : [],
  }
}

/** From now on the machine's clock counts `rate` ms in a true one; what waits for a time waits by that. */
export function setPace(world: World, node: SimNode, rate: number): void {
  const before = node.pace?.rate ?? 1
  if (rate === before) return
  node.pace = paced(node.pace, rate, world.nowMs)
  const { nowMs } = world
  world.retime(
    ({ owner, label }) => owner?.node === node && !isReply(label),
    ({ atMs }) => nowMs + Math.ceil(((atMs - nowMs) * before) / rate),
  )
}

export function crash(world: World, owner: Incarnation): void {
  world.recorder.happened(owner, { type: 'node.crashed' })
  owner.alive = false
  owner.deferred.length = 0
  owner.node.process = null
}

/**
 * Stops the engine as a host would on SIGTERM, perhaps again `againMs` later, as an impatient one does; when it
 * has stopped the process ends, at once or when it has lingered.
 */
export function shutDown(
  world: World,
  owner: Incarnation,
  { drainMs = 0, againMs, lingerMs = 0 }: Pick<Fault, 'drainMs' | 'againMs' | 'lingerMs'>,
  ended: () => void,
): void {
  owner.stopping = true
  world.recorder.happened(owner, { type: 'node.stopping', drainMs })
  if (againMs !== undefined)
    world.schedule(owner, againMs, 'signal', () => void owner.engine?.stop({ drainMs: 0 }).catch(world.fail))
  const end = (): void => {
    if (!owner.alive) return
    owner.alive = false
    owner.node.process = null
    ended()
  }
  const stopped = (): void => (lingerMs > 0 ? void world.later(lingerMs, 'exit', end) : end())
  owner.engine?.stop({ drainMs }).then(stopped, world.fail)
}

export function pause(world: World, owner: Incarnation, forMs: number): void {
  world.recorder.happened(owner, { type: 'node.paused', forMs })
  owner.paused = true
}

export function resume(world: World, owner: Incarnation): void {
  if (!owner.alive || !owner.paused) return
  owner.paused = false
  world.recorder.happened(owner, { type: 'node.resumed' })
  const due = owner.deferred.splice(0)
  if (owner.blocked) due.sort((a, b) => Number(isReply(a.label)) - Number(isReply(b.label)))
  owner.blocked = false
  for (const event of due) world.again(event)
}

/** Stands still for a while. */
export function standStill(world: World, owner: Incarnation, forMs: number): void {
  pause(world, owner, forMs)
  world.later(forMs, 'resume', () => resume(world, owner), owner.node.name)
}

function isReply(label: string): boolean {
  return Object.hasOwn(afterUnknown, label) || isServiceReply(label)
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
function createExecutor({ services: { current } }: World, owner: Incarnation): Executor {
  return {
    run: async ({ id: job, epoch }, handler) => {
      const running = { job, epoch }
      owner.handlers.add(running)
      owner.entering = running
      try {
        return await (current ? current.run(running, handler) : handler())
      } finally {
        owner.handlers.delete(running)
      }
    },
  }
}

/** A handler that waits for what only handlers ask of the store waits for a port, until it is answered or given up. */
function countingWaits(owner: Incarnation, store: Store): Store {
  const counted = <P, R>(call: (params: P) => Promise<R>) => {
    return async (params: P): Promise<R> => {
      owner.waits += 1
      try {
        return await call(params)
      } finally {
        owner.waits -= 1
      }
    }
  }
  const { progress, checkpoint, checkpoints } = store.jobs
  const { commits } = store
  return {
    ...store,
    ...(commits && {
      commits: { transact: counted(commits.transact), confirm: counted(commits.confirm) },
    }),
    jobs: {
      ...store.jobs,
      progress: counted(progress),
      checkpoint: counted(checkpoint),
      checkpoints: counted(checkpoints),
    },
  }
}
