import type { Barrier } from './barrier.ts'
import { runFromMacrotask } from './barrier.ts'
import { type Leak, type LeakGuard } from './guard/guard.ts'
import { unknownSite } from './guard/leak.ts'
import { realMs } from './guard/real-clock.ts'
import type { Incarnation, RunningHandler } from './node.ts'
import type { World } from './world.ts'

/** Why a run ended before its time. */
export type Stop =
  | { readonly kind: 'leak'; readonly leak: Leak }
  | { readonly kind: 'livelock'; readonly atMs: number; readonly label: string }
  | { readonly kind: 'failure'; readonly error: unknown }

/** A process of which some handler waits for no port. */
interface Stall {
  readonly owner: Incarnation
  readonly running: readonly RunningHandler[]
  readonly sinceMs: number
}

const eventsPerTurn = 512
const eventsPerInstantMax = 20_000
/** How long a handler that waits for nothing in this world may take to show that it waits for the real one. */
const stallMs = 50

export interface DriveOptions {
  readonly beat: () => void
  readonly traces: boolean
  /** Fires an event, the next one by default; false when there is none to fire. */
  readonly step?: () => boolean
}

/**
 * Fires one event, drains all that it set off, repeats. The guard is armed exactly meanwhile. Null means that
 * `over` said so, or that nothing was left to happen. Without `traces` errors have no stack: they come by
 * the thousand, and nobody reads where they were made.
 */
export async function drive(
  world: World,
  barrier: Barrier,
  guard: LeakGuard,
  over: () => boolean,
  { beat, traces, step = world.step }: DriveOptions,
): Promise<Stop | null> {
  let stop: Stop | null = null
  const instant = { atMs: -1, events: 0 }
  let stall: Stall | null = null

  function turn(): boolean {
    beat()
    if (world.database.busy > 0) return true
    if (stall) return wait(stall)
    for (let k = 0; k < eventsPerTurn; k++) {
      if (over()) return false
      if (!fire(k === 0)) return false
      if (stop) return false
      if (world.database.busy > 0) return true
      stall = stalled()
      if (stall) return true
    }
    return true
  }

  /** `first`: of its macrotask. */
  function fire(first: boolean): boolean {
    guard.arm()
    let more = false
    try {
      more = step()
      if (first) barrier.drain()
      else barrier.drainOn()
    } finally {
      guard.disarm()
    }
    const leak = guard.takeLeak()
    if (leak) stop = { kind: 'leak', leak: leak.site === unknownSite ? placed(leak) : leak }
    if (world.failure) stop = { kind: 'failure', error: world.failure.error }
    if (world.nowMs !== instant.atMs) {
      instant.atMs = world.nowMs
      instant.events = 0
    }
    instant.events += 1
    if (instant.events > eventsPerInstantMax)
      stop = { kind: 'livelock', atMs: world.nowMs, label: world.lastLabel }
    return more
  }

  /** No line to name, but a job: one of those that run. */
  function placed(leak: Leak): Leak {
    const running = world.nodes.flatMap(({ process }) => (process ? [...process.handlers] : []))
    const jobs = running.map(({ job }) => job).join(' or ')
    return jobs === '' ? leak : { ...leak, what: `${leak.what}, while the handler of job ${jobs} ran,` }
  }

  /** Whether the process that just moved has more handlers running than waiting for a port, beyond those known to hang. */
  function stalled(): Stall | null {
    const owner = world.lastOwner
    if (owner === null || !owner.alive) return null
    const idle = owner.handlers.size - owner.waits
    if (idle > owner.hung) return { owner, running: [...owner.handlers], sinceMs: realMs() }
    owner.hung = Math.max(0, idle)
    return null
  }

  /** The world stands still in real time: what moves now was moved from outside. */
  function wait({ owner, running, sinceMs }: Stall): boolean {
    const idle = owner.handlers.size - owner.waits
    if (idle <= owner.hung) {
      // Those that ended are known to have waited; otherwise it was one of all.
      const ended = running.filter((handler) => !owner.handlers.has(handler))
      const jobs = (ended.length > 0 ? ended : running).map(({ job }) => job).join(' or ')
      const what = `the handler of job ${jobs} on ${owner.node.name} waited for something outside the simulation`
      stop = {
        kind: 'leak',
        leak: { what, site: 'unknown: no port was asked and no guarded function called', stack: '' },
      }
      return false
    }
    if (realMs() - sinceMs >= stallMs) {
      owner.hung = idle
      stall = null
    }
    return true
  }

  const { stackTraceLimit } = Error
  if (!traces) Error.stackTraceLimit = 0
  try {
    await runFromMacrotask(turn)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
  return stop
}
