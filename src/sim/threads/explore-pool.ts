import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { HoldfastError } from '../../engine/errors.ts'
import { type ExploreOptions, type Explored, inLevels } from '../explore/explore.ts'
import { Frontier } from '../explore/frontier.ts'
import type { Found } from '../explore/lane.ts'
import type { ExploreThreadData, FromExploreThread, ToExploreThread } from './explore-protocol.ts'
import type { Size, Topology } from '../explore/topology.ts'
import { type Shared, type Sizes, counted, createShared } from '../explore/shared.ts'

export interface ThreadsOptions extends Sizes, Pick<ExploreOptions, 'boundMs' | 'progress'> {
  /** The module that the topology is from, or null for ours. */
  readonly url: string | null
  readonly topology: Topology
  /** How it is to be sized, where not as it is. */
  readonly size: Size
  readonly deviations: number
  /** Default: one a core. */
  readonly threads?: number
  /** A schedule that shows no sign of life for so long ends the exploration; default 10,000. */
  readonly silentMsMax?: number
}

/** The exploration ended before its time, with no verdict. */
class ExplorationFailed extends HoldfastError {
  readonly code = 'EXPLORATION_FAILED'
}

interface Thread {
  readonly ready: Promise<void>
  walk(level: number): Promise<Found | null>
  /** Throws `ExplorationFailed` when it has shown no sign of life for too long. */
  look(): void
  close(): Promise<void>
}

/** Explores in several threads, which share the states and the schedules. */
export async function exploreInThreads(options: ThreadsOptions): Promise<Explored> {
  const lanes = options.threads ?? availableParallelism()
  const { topology } = options
  const shared = createShared(lanes, topology.properties.length, options)
  const threads = Array.from({ length: lanes }, (_, lane) => start(options, shared, lane, lanes))
  try {
    await Promise.all(threads.map(({ ready }) => ready))
    return await inLevels(shared, topology, options.deviations, options, (level, look) => {
      const walked = Promise.all(threads.map((thread) => thread.walk(level)))
      return watched(walked, () => {
        look()
        for (const thread of threads) thread.look()
      })
    })
  } finally {
    await Promise.all(threads.map((thread) => thread.close()))
  }
}

const lookEachMs = 250

/** Looks now and then until the work is done. */
async function watched<T>(work: Promise<T>, look: () => void): Promise<T> {
  let looking: ReturnType<typeof setInterval> | undefined
  const broke = new Promise<never>((_, reject) => {
    looking = setInterval(() => {
      try {
        look()
      } catch (error) {
        reject(error)
      }
    }, lookEachMs)
  })
  try {
    return await Promise.race([work, broke])
  } finally {
    clearInterval(looking)
  }
}

const preload = new URL('../guard/preload.js', import.meta.url)
const entry = new URL('./explore-thread.js', import.meta.url)
/** Of young objects: a world lives for one schedule, and dies whole. */
const youngMb = 96

function start(
  { url, topology: { name: topology }, size, deviations: most, silentMsMax = 10_000 }: ThreadsOptions,
  shared: Shared,
  lane: number,
  lanes: number,
): Thread {
  const heartbeat = new SharedArrayBuffer(4)
  const counter = new Int32Array(heartbeat)
  const workerData: ExploreThreadData = { url, topology, size, shared, lane, lanes, most, heartbeat }
  const execArgv = ['--import', preload.href]
  const worker = new Worker(entry, {
    workerData,
    execArgv,
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
  })
  const waiting: { resolve: (found: Found | null) => void; reject: (error: unknown) => void }[] = []
  let dead: unknown = null
  let seen = { count: 0, atMs: performance.now() }

  function fails(error: unknown): void {
    dead ??= error
    for (const { reject } of waiting.splice(0)) reject(error)
  }

  const next = (): Promise<Found | null> =>
    dead === null
      ? new Promise((resolve, reject) => void waiting.push({ resolve, reject }))
      : Promise.reject(dead)

  worker.on('message', (message: FromExploreThread) => {
    if (message.kind === 'failed') return fails(new ExplorationFailed(message.message))
    waiting.shift()?.resolve(message.kind === 'walked' ? message.found : null)
  })
  worker.on('error', (error) =>
    fails(new ExplorationFailed(`a thread died: ${String(error)}`, { cause: error })),
  )
  worker.on('exit', (code) => fails(new ExplorationFailed(`a thread ended with code ${code}`)))
  return {
    ready: next().then(() => undefined),
    walk: (level) => {
      seen = { count: Atomics.load(counter, 0), atMs: performance.now() }
      const walked = next()
      const message: ToExploreThread = { level }
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage(message)
      return walked
    },
    look: () => {
      const [count, atMs] = [Atomics.load(counter, 0), performance.now()]
      if (count !== seen.count) seen = { count, atMs }
      if (waiting.length === 0 || atMs - seen.atMs < silentMsMax) return
      const run = shared.counts[lane * counted.length + counted.indexOf('run')] ?? 0
      const path = JSON.stringify(new Frontier(shared).pathOf(run))
      throw new ExplorationFailed(
        `no sign of life for ${silentMsMax} ms, in the schedule that leaves the default at ${path}: an endless loop in a handler or in the engine`,
      )
    },
    close: async () => {
      worker.removeAllListeners()
      worker.on('error', () => {})
      await worker.terminate()
    },
  }
}
