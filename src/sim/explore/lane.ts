import type { Content } from '../../stores/memory/content.ts'
import type { Violation } from '../recorder.ts'
import type { World } from '../world.ts'
import type { Alike, Place } from './audit.ts'
import { deviationsAt } from './deviations.ts'
import { Frontier } from './frontier.ts'
import { Identity, type IdentityOptions } from './identity.ts'
import { Texts } from './portrait.ts'
import { Seen } from './seen.ts'
import { type Counted, type Shared, at, counted } from './shared.ts'
import type { Deviation, Topology } from './topology.ts'
import { walk } from './walk.ts'

export interface LaneOptions {
  readonly topology: Topology
  readonly shared: Shared
  /** Which of how many. */
  readonly lane: number
  readonly lanes: number
  /** Schedules leave the default so often at most. */
  readonly most: number
  readonly prune: boolean
  readonly identity: IdentityOptions
  /** Called now and then: shows a watchdog that it is alive. */
  readonly beat?: () => void
  /** Told of each state that is walked on from, with what the database holds, and its identity. */
  readonly met?: (world: World, content: Content, key: Int32Array) => void
  /** Told of each state that was taken for one that is known. */
  readonly alike?: (alike: Alike) => void
}

/** A schedule that violates something; without violations: one that was stopped, as by a handler that asked the real world. */
export interface Found {
  /** Its place in the order of its level. */
  readonly place: number
  readonly deviations: readonly Deviation[]
  readonly violations: readonly Violation[]
  /** Of the walk up to the violation. */
  readonly traceHash: string
}

/** Walks schedules of a level, one after the other, until none is left that nobody has taken. */
export interface Lane {
  walk(level: number, look?: () => void): Promise<Found | null>
}

const lookEach = 64

export function createLane(options: LaneOptions): Lane {
  const { topology, shared, prune, most } = options
  const ignoresTime = options.identity.omit === 'time'
  const texts = new Texts()
  const seen = new Seen(shared.seen, options.lanes)
  const frontier = new Frontier(shared)
  const { control, order } = shared
  const key = new Int32Array(4)
  const by = new Int32Array(2)
  const { length } = topology.properties
  const evaluated = shared.evaluations.subarray(options.lane * length, (options.lane + 1) * length)
  const counts: Counted = { runs: 0, states: 0, distinct: 0, pruned: 0, replayed: 0, depthMax: 0, run: 0 }

  function told(): void {
    counts.distinct = seen.distinct
    for (const [k, name] of counted.entries()) shared.counts[options.lane * counted.length + k] = counts[name]
  }

  async function one(run: number, level: number): Promise<Omit<Found, 'place'> | null> {
    const path = frontier.pathOf(run)
    const last = path.at(-1)
    const from = last ? last.step + 1 : 0
    const taken: Deviation[] = []
    let knownAtMs: number | null = null
    let stands: { world: World; content: () => Content; identity: Identity } | null = null

    function again(world: World, step: number): Deviation | null {
      counts.replayed += 1
      const next = path[taken.length]
      if (next?.step !== step) return null
      const deviation = deviationsAt(world, topology, step)[next.nth] as Deviation
      taken.push(deviation)
      return deviation
    }

    const { recorder, steps, stop } = await walk({
      topology,
      ...(options.beat && { beat: options.beat }),
      begun: (world, content) => {
        stands = { world, content, identity: new Identity(world, content, texts, options.identity) }
      },
      fired: (event, deferred) => stands?.identity.fired(event, deferred),
      choose: (step) => {
        const { world, content, identity } = stands as unknown as NonNullable<typeof stands>
        if (step < from) return again(world, step)
        counts.states += 1
        if (prune || options.met) identity.tell(key)
        if (prune) {
          if (!seen.isNew(key, ignoresTime ? 0 : world.nowMs, run, step, by)) {
            counts.pruned += 1
            knownAtMs = world.nowMs
            options.alike?.({ pruned: { path, step }, known: knownAt(by) })
            return 'stop'
          }
        }
        options.met?.(world, content(), key)
        if (level < most) {
          const others = deviationsAt(world, topology, step).length
          const atMs = world.next()?.atMs ?? 0
          for (let nth = 0; nth < others; nth++) frontier.add(run, step, nth, atMs)
        }
        return null
      },
    })
    frontier.ended(run, knownAtMs)
    counts.depthMax = Math.max(counts.depthMax, steps)
    for (const [k, { evaluations }] of recorder.tallies.entries())
      evaluated[k] = (evaluated[k] ?? 0) + evaluations
    if (stop?.kind === 'failure') throw stop.error
    // A walk that left the simulated world, or never got on, proves nothing: that is found, too.
    const { violations } = recorder
    const found = stop !== null || violations.length > 0
    return found ? { deviations: taken, violations, traceHash: recorder.digest() } : null
  }

  function knownAt([run = 0, step = 0]: Int32Array): Place {
    return { path: frontier.pathOf(run), step }
  }

  return {
    walk: async (level, look) => {
      for (;;) {
        const place = Atomics.add(control, at.cursor, 1)
        if (place >= (control[at.size] as number) || isEnough(control, place)) return null
        counts.run = order[place] as number
        const violated = await one(counts.run, level)
        counts.runs += 1
        told()
        if (counts.runs % lookEach === 0) look?.()
        if (!violated) continue
        tellFound(control, place)
        return { ...violated, place }
      }
    },
  }
}

/** Of those that violate something the first is wanted: others go on only with what comes before it. */
function isEnough(control: Int32Array, place: number): boolean {
  const found = Atomics.load(control, at.found)
  return Atomics.load(control, at.stop) !== 0 || (found > 0 && place + 1 > found)
}

function tellFound(control: Int32Array, place: number): void {
  for (;;) {
    const found = Atomics.load(control, at.found)
    if (found > 0 && found <= place + 1) return
    if (Atomics.compareExchange(control, at.found, found, place + 1) === found) return
  }
}
