import { realMs } from '../guard/real-clock.ts'
import type { Violation } from '../recorder.ts'
import { deviationsAt } from './deviations.ts'
import { Frontier } from './frontier.ts'
import { Identity, type IdentityOptions } from './identity.ts'
import { Texts } from './portrait.ts'
import { Seen } from './seen.ts'
import type { Deviation, Topology } from './topology.ts'
import type { World } from '../world.ts'
import type { Content } from '../../stores/memory/content.ts'
import type { Alike, Place } from './audit.ts'
import { walk } from './walk.ts'

export interface ExploreOptions {
  readonly topology: Topology
  /** All schedules with at most so many deviations from the default; default: the topology's own. */
  readonly deviations?: number
  /** Take states for one that have one identity; default true. Without, every schedule is walked to its end. */
  readonly prune?: boolean
  readonly identity?: IdentityOptions
  /** Room for so many distinct states, twice over; a power of two. Default 2^23. */
  readonly statesMax?: number
  /** Default: none. */
  readonly boundMs?: number
  /** Told now and then how far it is. */
  readonly progress?: (soFar: Counts) => void
  /** Told of each state that is new, with the digest of what the database holds. */
  readonly met?: (world: World, content: Content) => void
  /** Told of each state that was taken for one that is known. */
  readonly alike?: (alike: Alike) => void
}

export interface Counts {
  /** Deviations of the schedules that are being walked. */
  readonly level: number
  readonly runs: number
  /** Schedules of this level that are left. */
  readonly left: number
  /** States met after the last deviation of their schedule, and how many of them were different. */
  readonly states: number
  readonly distinct: number
  /** Schedules that ended in a state that was known. */
  readonly pruned: number
  /** Steps taken again to get to the last deviation; not among the states. */
  readonly replayed: number
  readonly depthMax: number
  readonly wallMs: number
}

export interface Explored extends Counts {
  /** All schedules within the bound were walked, and none violated anything. */
  readonly complete: boolean
  readonly found: Found | null
}

/** A schedule with the fewest deviations that violates something. */
export interface Found {
  readonly deviations: readonly Deviation[]
  readonly violations: readonly Violation[]
}

/** Walks all schedules of a topology with 0 deviations, then with 1, and so on. */
export async function explore(options: ExploreOptions): Promise<Explored> {
  const { topology, prune = true, boundMs = Number.POSITIVE_INFINITY } = options
  const most = options.deviations ?? topology.deviations
  const texts = new Texts()
  const seen = new Seen(options.statesMax ?? 2 ** 23)
  const frontier = new Frontier()
  const key = new Int32Array(4)
  const by = new Int32Array(2)
  const startedMs = realMs()
  const counts = { level: 0, runs: 0, left: 1, states: 0, pruned: 0, replayed: 0, depthMax: 0 }
  const soFar = (): Counts => ({
    ...counts,
    distinct: seen.distinct,
    wallMs: Math.round(realMs() - startedMs),
  })

  async function one(run: number): Promise<Found | null> {
    const path = frontier.pathOf(run)
    const from = path.length === 0 ? 0 : (path.at(-1)?.step ?? 0) + 1
    let identity: Identity | null = null
    let walked: World | null = null
    let content: () => Content = () => {
      throw new TypeError('the walk has not begun')
    }
    const taken: Deviation[] = []
    const { recorder, steps, stop } = await walk({
      topology,
      begun: (world, held) => {
        walked = world
        content = held
        identity = new Identity(world, held, texts, options.identity ?? {})
      },
      fired: (event, deferred) => identity?.fired(event, deferred),
      choose: (step) => {
        const world = walked as unknown as World
        if (step < from) {
          counts.replayed += 1
          const next = path[taken.length]
          if (next?.step !== step) return null
          const deviation = deviationsAt(world, topology, step)[next.nth] as Deviation
          taken.push(deviation)
          return deviation
        }
        counts.states += 1
        if (prune) {
          ;(identity as unknown as Identity).tell(key)
          if (!seen.isNew(key, world.nowMs, run, step, by)) {
            counts.pruned += 1
            options.alike?.({ pruned: { path, step }, known: knownAt(by) })
            return 'stop'
          }
        }
        options.met?.(world, content())
        if (counts.level < most) {
          const others = deviationsAt(world, topology, step).length
          const atMs = world.next()?.atMs ?? 0
          for (let nth = 0; nth < others; nth++) frontier.add(run, step, nth, atMs)
        }
        return null
      },
    })
    counts.depthMax = Math.max(counts.depthMax, steps)
    if (stop?.kind === 'failure') throw stop.error
    return recorder.violations.length > 0 ? { deviations: taken, violations: recorder.violations } : null
  }

  function knownAt([run = 0, step = 0]: Int32Array): Place {
    return { path: frontier.pathOf(run), step }
  }

  for (; counts.level <= most; counts.level++) {
    const runs = frontier.next()
    for (const [k, run] of runs.entries()) {
      counts.left = runs.length - k
      const found = await one(run)
      counts.runs += 1
      if (found) return { ...soFar(), complete: false, found }
      if (realMs() - startedMs > boundMs) return { ...soFar(), complete: false, found: null }
      if (counts.runs % 512 === 0) options.progress?.(soFar())
    }
  }
  counts.left = 0
  counts.level = most
  return { ...soFar(), complete: true, found: null }
}
