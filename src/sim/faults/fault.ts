import type { Chooser } from '../chooser.ts'
import type { World } from '../world.ts'

/** A small named value in a plan: it can be listed, removed, and put into a replay file. */
export interface Fault {
  readonly id: string
  readonly family: FamilyName
  readonly atMs: number
  readonly node?: string
  /** A call of the store, or as `payments.charge` of a service. */
  readonly call?: string
  readonly service?: string
  readonly forMs?: number
  readonly drainMs?: number
  /** How long a process lives on once its engine has stopped. */
  readonly lingerMs?: number
  readonly skewMs?: number
  /** How much too fast a clock runs, in millionths; negative: too slow. */
  readonly driftPpm?: number
  /** Asked to stop once more, so long after the first time. */
  readonly againMs?: number
  /** How far the clock of the database goes, forward or back. */
  readonly byMs?: number
  /** How long a message is on its way; of timers, how late they are (negative: early). */
  readonly lateMs?: number
  /** Only timers of this label. */
  readonly label?: string
  /** How it shows: an error at once (`reset`), nothing at all (`silent`, of a pause: a late answer), or an answer when it is over (`stall`), an error to whoever writes (`read-only`). */
  readonly how?: 'reset' | 'silent' | 'stall' | 'read-only'
  /** Whether work in flight at a restart takes effect. */
  readonly lands?: boolean
  /** What an operator does. */
  readonly command?:
    | 'cancel'
    | 'retry'
    | 'reschedule'
    | 'hold'
    | 'pause'
    | 'replay'
    | 'replay-all'
    | 'discard'
    | 'list-dead'
  /** Through this process, too, the same is done at the same time. */
  readonly other?: string
  /** There it is retried, in place of that. */
  readonly retries?: boolean
  /** How many dead letters are replayed in one write. */
  readonly batch?: number
  /** Its process dies so long after it. */
  readonly diesMs?: number
  /** An operator acts on what he read so long ago. */
  readonly readMs?: number
  /** How old a backup is that is restored: what was done since is lost. */
  readonly lossMs?: number
  /** How long before that a process falls asleep, and for how long. */
  readonly sleptMs?: number
  readonly sleepMs?: number
  /** How long an operator looks at what is there before he lets it go on. */
  readonly lookMs?: number
  /** Which of those that it could be about, counted round. */
  readonly nth?: number
}

export type FamilyName =
  | 'lost-request'
  | 'lost-reply'
  | 'late-request'
  | 'slow-reply'
  | 'refused-connection'
  | 'database-restart'
  | 'database-restored'
  | 'outage-short'
  | 'outage-long'
  | 'stall'
  | 'partition'
  | 'read-only'
  | 'aborted'
  | 'disk-full'
  | 'clock-jump'
  | 'crash'
  | 'shutdown'
  | 'pause'
  | 'pause-on-call'
  | 'blocked-loop'
  | 'timers'
  | 'clock-skew'
  | 'drift'
  | HandlerFamily
  | ServiceFamily
  | 'operator'
  | 'dead-letters'

export type HandlerFamily = `handler-${
  | 'throws-odd'
  | 'hangs'
  | 'ignores-signal'
  | 'rejects-late'
  | 'kills'
  | 'returns-unstorable'}`

/** Of the user's own services. */
export type ServiceFamily = `service-${
  | 'lost-request'
  | 'lost-reply'
  | 'late-request'
  | 'slow-reply'
  | 'busy'
  | 'refused'
  | 'outage'
  | 'pause'}`

export interface Family {
  readonly name: FamilyName
  readonly says: string
  /** The k-th fault of this family; `draw` answers a number in [0, bound) of its own for each name. */
  draw(place: FaultPlace, draw: (bound: number, what: string) => number): Omit<Fault, 'id' | 'family'>
  /** Brings it about, at its time. */
  strike(world: World, fault: Fault): void
  /** At most this many in one run of ten minutes. */
  readonly most: number
}

export interface FaultPlace {
  readonly nodes: readonly string[]
  readonly producers: readonly string[]
  readonly forMs: number
  readonly leaseTtlMs: number
  /** Handlers commit. */
  readonly commits: boolean
  /** Its workers fire schedules. */
  readonly schedules: boolean
  /** Dead letters are replayed and discarded. */
  readonly deadLetters: boolean
  /** The database is restored from a backup. */
  readonly restores: boolean
  /** Handlers log, and producers wait for results. */
  readonly talks: boolean
  /** What the services can be asked, as `payments.charge`. */
  readonly services: readonly string[]
}

/** Of so many families half would hide each other: a run has seven or eight on the average. */
const swarmOneIn = 3

/**
 * The faults of one run, by swarm testing: each seed turns most of the families off entirely, and draws how
 * hard the others hit. `density`: how many times as many as the families say.
 */
export function drawPlan(
  families: readonly Family[],
  place: FaultPlace,
  chooser: Chooser,
  swarm: boolean,
  density = 1,
): Fault[] {
  const plan: Fault[] = []
  for (const family of families) {
    const on = !swarm || chooser.below(swarmOneIn, 'swarm', family.name, 'on', 0) === 1
    const most = Math.max(1, Math.round((density * family.most * place.forMs) / 600_000))
    const count = on ? 1 + chooser.below(most, 'swarm', family.name, 'count', 0) : 0
    for (let k = 0; k < count; k++) {
      const draw = (bound: number, what: string): number =>
        chooser.below(bound, 'fault', family.name, what, k)
      plan.push({ id: `${family.name} #${k + 1}`, family: family.name, ...family.draw(place, draw) })
    }
  }
  return plan
}

/** Picks one of a list. */
export function pick<T>(list: readonly T[], draw: (bound: number, what: string) => number, what: string): T {
  return list[draw(list.length, what)] as T
}
