import type { HistoryEvent } from '../../engine/history.ts'
import type { Content } from '../../stores/memory/content.ts'
import { transparentMemoryStore } from '../../stores/memory/index.ts'
import { createBarrier } from '../barrier.ts'
import type { Chooser } from '../chooser.ts'
import type { WorldEvent } from '../clock/queue.ts'
import { drive } from '../driver.ts'
import { leakGuard } from '../guard/guard.ts'
import type { Incarnation } from '../node.ts'
import { startProcess } from '../node.ts'
import { type Recorder, createRecorder } from '../recorder.ts'
import { type Machines, nodesOf } from '../run.ts'
import type { Stop } from '../driver.ts'
import { keepSchedules } from '../schedules.ts'
import { type World, createWorld } from '../world.ts'
import { StoreUnavailable } from '../../engine/errors.ts'
import { defaultIntervals } from '../../engine/settings.ts'
import { deviate, giveOrder } from './deviate.ts'
import { onlySleeping } from './handlers.ts'
import type { Deviation, Topology } from './topology.ts'

/** One schedule of a topology, from its start, on the code that ships. */
export interface Walk {
  readonly world: World
  readonly recorder: Recorder
  /** Steps taken. */
  readonly steps: number
  /** Why it ended before its time; null: it did not. */
  readonly stop: Stop | null
}

export interface WalkOptions {
  readonly topology: Topology
  /** Called with the world as it is before its first step. */
  readonly begun?: (world: World, content: () => Content) => void
  /** Before each step: the deviation to take there, null for the default, or that it is enough. */
  readonly choose: (step: number) => Deviation | null | 'stop'
  /** After each step, with the event that fired; null: a fault struck, and nothing fired. */
  readonly fired?: (event: WorldEvent | null, deferred: boolean) => void
  /** Told of every history event. */
  readonly watch?: (event: HistoryEvent) => void
  readonly keepStory?: boolean
  readonly beat?: () => void
}

/** Walks until the horizon, a violation, or until it is stopped. */
export async function walk(options: WalkOptions): Promise<Walk> {
  const { topology, choose, fired = () => {}, keepStory = false, beat = () => {} } = options
  const { world, content } = await worldOf(options)
  const { recorder } = world
  const course = { steps: 0, over: false, last: undefined as WorldEvent | null | undefined, deferred: false }
  begin(world, topology)
  options.begun?.(world, content)

  /** What the last step set off has run. */
  function settle(): void {
    const { last, deferred } = course
    course.last = undefined
    if (last !== undefined) fired(last, deferred)
  }

  function step(): boolean {
    settle()
    const next = world.next()
    const choice = next && next.atMs <= topology.horizonMs ? choose(course.steps) : 'stop'
    if (!next || choice === 'stop') return !(course.over = true)
    course.steps += 1
    const event = choice ? deviate(world, choice) : next
    course.last = event
    course.deferred = event?.owner?.paused ?? false
    if (event) world.step(event)
    return true
  }

  const over = (): boolean => course.over || recorder.violations.length > 0
  const stop = await drive(world, createBarrier(), leakGuard(), over, { beat, traces: keepStory, step })
  settle()
  return { world, recorder, steps: course.steps, stop }
}

async function worldOf({
  topology,
  keepStory = false,
  watch = () => {},
}: WalkOptions): Promise<{ world: World; content: () => Content }> {
  let content: () => Content = () => {
    throw new TypeError('the store has not been made')
  }
  const world: World = await createWorld({
    chooser: constants,
    store: (time) => {
      const transparent = transparentMemoryStore(time)
      content = transparent.content
      return transparent.store
    },
    nodes: nodesOf(machinesOf(topology, (error) => world.fail(error))),
    recorder: (now) =>
      createRecorder({
        properties: topology.properties,
        keepStory,
        now,
        watch,
        broke: (error) => world.fail(error),
      }),
  })
  return { world, content }
}

function machinesOf(topology: Topology, refuse: (error: unknown) => void): Machines {
  const { jobs, workers, sweepers, concurrency, intervals, schedules, duties = [] } = topology
  const queues = [...new Set(jobs.map(({ settings }) => settings.queue))]
  return {
    concurrency,
    intervals,
    jobs,
    duties,
    ...(schedules && { schedules }),
    jobsOf: () => onlySleeping(jobs, refuse),
    workers: workers + sweepers,
    ability: (k) => ({ jobs, queues: k < workers ? queues : [] }),
  }
}

/** So that their timers do not all fall on one instant. */
const startEachMs = 70
const submitAgainMs = 1_000

function begin(world: World, { work, intervals, orders = [], schedules = [] }: Topology): void {
  const { sweepMs, replyMs, abandonMs, pollMsMax } = { ...defaultIntervals, ...intervals }
  const storeCallMs = world.database.raw.callMs
  const limits = { sweepMs, storeCallMs, replyMs, abandonMs, pollMsMax, deadLetterMs: null }
  world.recorder.happened(null, { type: 'run.started', ...limits })
  const [client, ...others] = world.nodes
  if (!client) return
  for (const [k, node] of others.entries()) {
    world.later((k + 1) * startEachMs, 'boot', () => world.start(node), node.name)
  }
  const engine = startProcess(world, client)
  const sender = client.process as Incarnation
  for (const { atMs, job, input, options } of work) {
    /** Sends until the store has answered: the producer's part of losing no job. */
    const submit = (): void => {
      engine.enqueue(job as never, input as never, options).catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) return world.fail(error)
        world.schedule(sender, submitAgainMs, 'submit', submit, options.id)
      })
    }
    world.schedule(sender, atMs, 'submit', submit, options.id)
  }
  keepSchedules(world, { owner: sender, engine }, schedules)
  for (const { atMs, ...order } of orders) giveOrder(world, order, atMs)
}

/** Chance has one value: what it would decide is no part of the question. Every message takes 10 ms. */
const constants: Chooser = {
  list: null,
  below: (bound, stream) => (stream === 'latency' ? 189 : stream === 'clock' ? 0 : bound >> 1),
}
