import { InvalidArgument } from '../../engine/errors.ts'
import { requireFunction, requireObject, requireWhole, shown } from '../../engine/given.ts'
import { capacity, exactBudgets, exactlyOnceClaim, fencing } from '../../properties/index.ts'
import { deviationsOf } from '../../report/explore/deviation.ts'
import { type ExploreReport, boundOf, verdictOfExplored } from '../../report/explore/report.ts'
import { exploreText } from '../../report/explore/text.ts'
import { storyLines } from '../../report/teller.ts'
import { requireTopology } from '../explore/check.ts'
import { counterexampleOf, scheduleRequest } from '../explore/counterexample.ts'
import { type Counts, type Explored, explore as walkAll } from '../explore/explore.ts'
import type { Deviation, Topology } from '../explore/topology.ts'
import { leakGuard } from '../guard/guard.ts'
import { judge } from '../judge.ts'
import { type ReplayFile, replayOf } from '../replay.ts'
import type { RunVerdict } from '../run.ts'
import type { Failure } from '../tally.ts'
import { about } from './about.ts'
import { requireOwnRealm } from './deal.ts'

/** A small system of a user's own jobs. What is left out has a default. */
export type TopologyOptions = Pick<Topology, 'name' | 'jobs' | 'work' | 'horizonMs' | 'faults'> &
  Partial<Omit<Topology, 'name' | 'jobs' | 'work' | 'horizonMs' | 'faults'>>

/**
 * Fills in what is left out, and looks at the whole: 2 `workers`, no `sweepers`, a `concurrency` of 1, the engine's own
 * `intervals`, 1 for `deviations`, and the `properties` `exactly-once-claim`, `fencing`,
 * `exact-budgets` and `capacity`, which any work puts to the test. Throws `InvalidArgument` naming the field.
 *
 * Its handlers may sleep once, or return at once; what else they do ends the exploration with `InvalidArgument`. They
 * must keep nothing between attempts: what they remember outside, no state shows.
 */
export function topology(options: TopologyOptions): Topology {
  requireObject("topology's options", options, InvalidArgument)
  const filled: Topology = {
    says: options.name,
    workers: 2,
    sweepers: 0,
    concurrency: 1,
    intervals: {},
    properties: [exactlyOnceClaim, fencing, exactBudgets, capacity],
    deviations: 1,
    ...options,
  }
  requireTopology(filled)
  return filled
}

export interface ExploreOptions {
  /** What `topology` makes. */
  readonly topology: Topology
  /** All schedules with at most so many deviations from the default, 0 - 10; default: the topology's own. */
  readonly deviations?: number
  /** Begins no schedule after so many ms of real time, and is then not complete; default: no bound. */
  readonly boundMs?: number
  /** Places for distinct states, 28 bytes each, of which half can be used: a power of two; default 2^21. */
  readonly statesMax?: number
  /** Places for schedules, 24 bytes each; default 2^20. */
  readonly schedulesMax?: number
  /** Told now and then how far it is. */
  readonly progress?: (soFar: Counts) => void
}

export interface Exploration extends Explored {
  /** `pass`: all schedules within the bound were walked, none violates anything, and each property was evaluated. */
  readonly verdict: ExploreReport['verdict']
  /** Why it is `inconclusive`. */
  readonly reasons: readonly string[]
  /** What was, or was to be, proven, in words. */
  readonly bound: string
  readonly failure: Counterexample | null
  /** What the command prints. */
  readonly text: string
  /** `late`: see `holdfast/sim/preload`, which a test runner loads by `--import`. */
  readonly guard: 'preloaded' | 'late'
}

/** A schedule with the fewest deviations that violates something. */
export interface Counterexample {
  readonly kind: Failure['kind']
  readonly property: string
  readonly message: string
  /** Where it leaves the default, and what it does there. */
  readonly deviations: readonly string[]
  /** As JSON it is what `holdfast replay` reads, with `--module`. */
  readonly file: ReplayFile
}

const deviationsMax = 10
const boundMsMax = 86_400_000
const roomMax = 2 ** 26

/**
 * Walks all schedules of a topology with 0 deviations, then with 1, and so on, in this thread, until one violates
 * something. A violation is no exception: see `verdict`. Await one call before the next. Throws `InvalidArgument`, also
 * of what a handler does that cannot be explored, and `TooMuch` (`TOO_MUCH_TO_EXPLORE`) where there is no more room.
 */
export async function explore(options: ExploreOptions): Promise<Exploration> {
  requireObject("explore's options", options, InvalidArgument)
  const { topology: of, boundMs, progress, statesMax = 2 ** 21, schedulesMax = 2 ** 20 } = options
  requireTopology(of)
  const { deviations = of.deviations } = options
  const whole = (what: string, value: unknown, min: number, max: number): void =>
    void requireWhole(what, value, { min, max }, InvalidArgument)
  whole('deviations', deviations, 0, deviationsMax)
  if (boundMs !== undefined) whole('boundMs', boundMs, 1, boundMsMax)
  whole('schedulesMax', schedulesMax, 1, roomMax)
  whole('statesMax', statesMax, 2, roomMax)
  if (!Number.isInteger(Math.log2(statesMax)))
    throw new InvalidArgument(`statesMax must be a power of two, not ${shown(statesMax)}`)
  if (progress !== undefined) requireFunction('progress', progress, InvalidArgument)
  requireOwnRealm(`topology ${of.name}`)
  const { late } = leakGuard()
  const result = await unlessRejected(
    walkAll({
      topology: of,
      deviations,
      statesMax,
      schedulesMax,
      ...(boundMs !== undefined && { boundMs }),
      ...(progress && { progress }),
    }),
  )
  const failure = result.found ? await counterexample(of, result.found.deviations) : null
  const one = { topology: of, deviations, result, failure, replay: null }
  const { verdict, reasons } = verdictOfExplored([one])
  const report = { ...about(), module: null, explored: [one], verdict, reasons }
  return {
    ...result,
    verdict,
    reasons,
    bound: boundOf(one),
    failure: failure && told(failure),
    text: exploreText(report),
    guard: late ? 'late' : 'preloaded',
  }
}

export interface Retraced {
  readonly verdict: RunVerdict
  /** Of a run that is neither a pass nor a violation: why. */
  readonly detail: string | null
  readonly violations: Failure['message'][]
  readonly events: number
  readonly traceHash: string
  readonly simulatedMs: number
  /** In words. */
  readonly deviations: readonly string[]
  /** Every event of the run, a line each. */
  readonly story: readonly string[]
}

/**
 * One schedule of a topology again, by its deviations (`found.deviations` of an exploration; none: the default
 * schedule). Its verdict is `diverged` where the code or the topology is another. Throws `InvalidArgument`.
 */
export async function retrace(of: Topology, deviations: readonly Deviation[]): Promise<Retraced> {
  requireTopology(of)
  if (!Array.isArray(deviations))
    throw new InvalidArgument(`deviations must be a list, not ${shown(deviations)}`)
  const result = await walkedAgain(of, deviations)
  const { verdict, detail, violations, events, traceHash, simulatedMs, story } = result
  return {
    verdict,
    detail,
    violations: violations.map(({ property, message }) => `${property}: ${message}`),
    events,
    traceHash,
    simulatedMs,
    deviations: deviationsOf(result),
    story: storyLines(story ?? []),
  }
}

async function counterexample(of: Topology, deviations: readonly Deviation[]): Promise<Failure> {
  return counterexampleOf(await walkedAgain(of, deviations))
}

function walkedAgain(of: Topology, deviations: readonly Deviation[]): ReturnType<typeof judge> {
  return unlessRejected(judge(scheduleRequest(of.name, deviations), [], { topologies: [of] }))
}

function told({ kind, property, message, result }: Failure): Counterexample | null {
  if (!result) return null
  const file = replayOf(result, { ...about(), file: null, store: 'memory' })
  return { kind, property, message, deviations: deviationsOf(result), file }
}

/** A handler that leaves a rejection behind ends the exploration, as it does in a thread. */
async function unlessRejected<T>(work: Promise<T>): Promise<T> {
  let rejected = (_reason: unknown): void => {}
  const left = new Promise<never>((_, reject) => {
    rejected = (reason) => reject(new InvalidArgument(`a handler left a rejection behind: ${String(reason)}`))
  })
  process.on('unhandledRejection', rejected)
  try {
    return await Promise.race([work, left])
  } finally {
    process.off('unhandledRejection', rejected)
  }
}
