import type { Content } from '../../stores/memory/content.ts'
import { realMs } from '../guard/real-clock.ts'
import type { World } from '../world.ts'
import type { Alike } from './audit.ts'
import { Frontier } from './frontier.ts'
import type { IdentityOptions } from './identity.ts'
import { type Found, createLane } from './lane.ts'
import { type Shared, type Sizes, at, createShared, evaluationsOf, sumOf } from './shared.ts'
import type { Level } from './spread.ts'
import type { Topology } from './topology.ts'

export interface ExploreOptions extends Sizes {
  readonly topology: Topology
  /** All schedules with at most so many deviations from the default; default: the topology's own. */
  readonly deviations?: number
  /** Begins no schedule after so long; default: none. */
  readonly boundMs?: number
  /** Told after each level, and now and then, how far it is. */
  readonly progress?: (soFar: Counts) => void
  /** Take states for one that have one identity; default true. Without, every schedule is walked to its end. */
  readonly prune?: boolean
  readonly identity?: IdentityOptions
  /** Walk each level from its latest schedule to its earliest. */
  readonly reversed?: boolean
  /** Called now and then: shows a watchdog that it is alive. */
  readonly beat?: () => void
  /** Told of each state that is walked on from, with what the database holds, and its identity. */
  readonly met?: (world: World, content: Content, key: Int32Array) => void
  /** Told of each state that was taken for one that is known. */
  readonly alike?: (alike: Alike) => void
}

export interface Counts {
  /** Deviations of the schedules that are being walked. */
  readonly level: number
  /** Schedules of this level that are left. */
  readonly left: number
  readonly runs: number
  /** States met after the last deviation of their schedule, and how many of them were different. */
  readonly states: number
  readonly distinct: number
  /** Schedules that ended in a state that was known. */
  readonly pruned: number
  /** Steps taken again to get to the last deviation; not among the states. */
  readonly replayed: number
  /** Steps of the longest schedule. */
  readonly depthMax: number
  readonly wallMs: number
}

export interface Explored extends Counts {
  /** All schedules within the bound were walked, and none violated anything. */
  readonly complete: boolean
  /** A schedule with the fewest deviations that violates something. */
  readonly found: Found | null
  /** What was done at each number of deviations, from 0 on. */
  readonly levels: readonly Level[]
  /** How often each property was evaluated, also on the way to where a schedule leaves another. */
  readonly properties: readonly { readonly name: string; readonly evaluations: number }[]
}

/** Walks all schedules of a topology with 0 deviations, then with 1, and so on, in this thread. */
export async function explore(options: ExploreOptions): Promise<Explored> {
  const { topology, prune = true, identity = {}, met, alike, beat } = options
  const shared = createShared(1, topology.properties.length, options)
  const most = options.deviations ?? topology.deviations
  const hooks = { ...(met && { met }), ...(alike && { alike }), ...(beat && { beat }) }
  const lane = createLane({ topology, shared, lane: 0, lanes: 1, most, prune, identity, ...hooks })
  return inLevels(shared, topology, most, options, async (level, look) => [await lane.walk(level, look)])
}

/**
 * `walk` resolves when no schedule of the level is left, to what each lane has found. Now and then it is to look at the
 * time.
 */
export async function inLevels(
  shared: Shared,
  { properties, horizonMs }: Pick<Topology, 'properties' | 'horizonMs'>,
  most: number,
  { boundMs, progress, reversed = false }: Pick<ExploreOptions, 'boundMs' | 'progress' | 'reversed'>,
  walk: (level: number, look: () => void) => Promise<readonly (Found | null)[]>,
): Promise<Explored> {
  const { control } = shared
  const frontier = new Frontier(shared)
  const startedMs = realMs()
  const levels: Level[] = []
  let level = 0
  const soFar = (): Counts => {
    const left = Math.max(0, (control[at.size] as number) - (control[at.cursor] as number))
    return { level, left, ...sumOf(shared), wallMs: Math.round(realMs() - startedMs) }
  }
  const ended = (complete: boolean, found: Found | null): Explored => {
    const evaluations = evaluationsOf(shared, properties.length)
    const told = properties.map(({ name }, k) => ({ name, evaluations: evaluations[k] ?? 0 }))
    return { ...soFar(), complete, found, levels, properties: told }
  }
  const look = (): void => {
    if (boundMs !== undefined && realMs() - startedMs >= boundMs) Atomics.store(control, at.stop, 1)
    progress?.(soFar())
  }
  for (; level <= most; level++) {
    const before = sumOf(shared)
    const schedules = frontier.begin(reversed)
    const founds = (await walk(level, look)).filter((found) => found !== null)
    const spread = frontier.spread(horizonMs)
    levels.push({ deviations: level, schedules, ...since(before, sumOf(shared)), spread })
    const [found] = founds.toSorted((a, b) => a.place - b.place)
    if (found) return ended(false, found)
    if (Atomics.load(control, at.stop) !== 0) return ended(false, null)
  }
  level = most
  return ended(true, null)
}

type Sums = ReturnType<typeof sumOf>

function since(before: Sums, now: Sums): Pick<Level, 'runs' | 'states' | 'distinct' | 'pruned'> {
  return {
    runs: now.runs - before.runs,
    states: now.states - before.states,
    distinct: now.distinct - before.distinct,
    pruned: now.pruned - before.pruned,
  }
}
