import { InvalidArgument } from '../engine/errors.ts'
import { standardProperties } from '../properties/index.ts'
import { scenarioNamed, storeNamed } from './catalogue.ts'
import type { Draws } from './chooser.ts'
import type { Fault } from './faults/fault.ts'
import { databaseTimeOnly, firstDifference, withDatabaseTimeOnly } from './metamorphic.ts'
import { type Fingerprint, type ShrinkOptions, type Shrunk, matches, shrink, tellingFirst } from './shrink.ts'
import { realMs } from './guard/real-clock.ts'
import { type WorldState, stateOf } from './state-of.ts'
import { type RunOptions, type RunResult, type StoreFactory, run } from './run.ts'
import type { Scenario, WorkStep } from './scenarios/scenario.ts'
import { parseSeed } from './seed.ts'
import { explore } from './explore/explore.ts'
import { type RetraceOptions, type Retraced, retrace } from './explore/retrace.ts'
import { topologies, topologyNamed } from './explore/topologies/index.ts'
import type { Taken } from './explore/taken.ts'
import { type Deviation, type Size, type Topology, sized } from './explore/topology.ts'

/** One run as it is asked of a thread: plain data. */
export interface RunRequest {
  readonly seed: string
  /** Null: the seed chooses. */
  readonly scenario: string | null
  readonly store: string
  readonly families: readonly string[] | null
  /** Run twice and compare. */
  readonly verify: boolean
  /** Keep the whole story, for people. */
  readonly story: boolean
  readonly plan: readonly Fault[] | null
  /** Steps of the workload that are left out. */
  readonly without?: readonly number[]
  readonly draws: Draws | null
  /** In place of the scenario's work: jobs, so only for runs in the same thread. */
  readonly work?: readonly WorkStep[]
  /** The failure it is about, which is told before others. */
  readonly fingerprint?: Fingerprint
  /** Find the least of the run that fails like that, within so many ms. */
  readonly shrinkMs?: number
  /** Stop after so many events, and tell how the world stands then. */
  readonly until?: number
  /** The scenario is a topology, of which this is one schedule; null: it is not. */
  readonly deviations?: readonly Deviation[] | null
  /** How the topology is sized. */
  readonly size?: Size
  /** Look for a schedule that violates one of these, in the topology, or in all where they matter. */
  readonly explore?: {
    readonly properties: readonly string[]
    readonly deviations: number
    /** Of all topologies together. */
    readonly boundMs: number
  }
}

export interface Judged extends RunResult {
  /** Null: it was not asked to be shrunk. */
  readonly shrunk: (Shrunk & { readonly passing: Passing | null }) | null
  /** Null: it was not asked for. */
  readonly state: WorldState | null
  /** Of a schedule of a topology. */
  readonly deviations?: readonly Deviation[]
  readonly size?: Size
  /** Its deviations, with what they met. */
  readonly taken?: readonly Taken[]
  /** The same without the last of them; null: that is no pass, or was not asked for. */
  readonly passing?: Passing | null
}

/** The run that lacks one more fault, step or deviation, and passes. */
export interface Passing {
  readonly lacks: string
  readonly story: NonNullable<RunResult['story']>
}

/** One in four seeds that skew a clock is run again without: it costs a whole run. */
const databaseTimeEach = 4

export interface JudgeHooks extends Pick<RunOptions, 'beat' | 'trap'> {
  /** The store that the request names, where it is open already. */
  readonly store?: StoreFactory
  /** Those that are known; default: ours. */
  readonly topologies?: readonly Topology[]
}

/** Runs one request and judges it; a run that fails is run again to keep its choices and its story. */
export async function judge(
  request: RunRequest,
  known: readonly Scenario[],
  { store, topologies: knownTopologies = topologies, ...hooks }: JudgeHooks,
): Promise<Judged> {
  if (request.explore) return explored(request, request.explore, knownTopologies, hooks)
  if (request.deviations) return schedule(request, request.deviations, knownTopologies, hooks)
  if (store) return judgeOn(store, request, known, hooks)
  const opened = await (await storeNamed(request.store))(null)
  try {
    return await judgeOn(opened.open, request, known, hooks)
  } finally {
    await opened.close()
  }
}

/** A schedule with the fewest deviations that violates something, or the default one of the last topology. */
async function explored(
  request: RunRequest,
  { properties: names, deviations, boundMs }: NonNullable<RunRequest['explore']>,
  known: readonly Topology[],
  { beat }: Pick<JudgeHooks, 'beat'>,
): Promise<Judged> {
  const { scenario, size = {} } = request
  const asked = scenario === null ? known : [topologyNamed(scenario, known)]
  const matters = asked
    .map((topology) => ({
      ...topology,
      properties: topology.properties.filter(({ name }) => names.includes(name)),
    }))
    .filter(({ properties }) => properties.length > 0)
  const untilMs = realMs() + boundMs
  for (const topology of matters) {
    const options = {
      topology: sized(topology, size),
      deviations,
      boundMs: untilMs - realMs(),
      ...sizes,
      ...(beat && { beat }),
    }
    const { found } = await explore(options)
    if (found)
      return schedule({ ...request, scenario: topology.name }, found.deviations, matters, {
        ...(beat && { beat }),
      })
  }
  const last = matters.at(-1)
  if (!last) throw new InvalidArgument(`no topology judges ${names.join(' or ')}`)
  return schedule({ ...request, scenario: last.name }, [], matters, { ...(beat && { beat }) })
}

/** Of explorations that are bounded in time. */
const sizes = { statesMax: 2 ** 21, schedulesMax: 2 ** 20 }

/** One schedule of a topology. */
async function schedule(
  { scenario, size = {}, until, story: wanted }: RunRequest,
  deviations: readonly Deviation[],
  known: readonly Topology[],
  { beat }: Pick<JudgeHooks, 'beat'>,
): Promise<Judged> {
  const topology = sized(topologyNamed(scenario ?? '', known), size)
  const hooks = { keepStory: true, ...(beat && { beat }), ...(until !== undefined && { until }) }
  const { state, ...result } = await retrace(topology, deviations, hooks)
  const passing = wanted && until === undefined ? await withoutLast(topology, result, hooks) : null
  return { ...result, shrunk: null, state: until === undefined ? null : state, deviations, size, passing }
}

async function withoutLast(
  topology: Topology,
  { violations, taken }: Pick<Retraced, 'violations' | 'taken'>,
  hooks: RetraceOptions,
): Promise<Passing | null> {
  const last = taken.at(-1)
  if (!last || violations.length === 0) return null
  const fewer = taken.slice(0, -1).map(({ deviation }) => deviation)
  const { verdict, story } = await retrace(topology, fewer, hooks)
  return verdict === 'pass' ? { lacks: `step ${last.deviation.step}`, story: story ?? [] } : null
}

async function judgeOn(
  store: StoreFactory,
  request: RunRequest,
  known: readonly Scenario[],
  hooks: JudgeHooks,
): Promise<Judged> {
  const seed = parseSeed(request.seed)
  const scenario = request.scenario === null ? dealt(seed, known) : scenarioNamed(request.scenario, known)
  const options: RunOptions = {
    ...hooks,
    seed,
    scenario,
    store,
    properties: [...standardProperties, ...(scenario.properties ?? [])],
    ...(request.work && { work: request.work }),
    ...(request.families && { families: request.families }),
    ...(request.plan && { plan: request.plan }),
    ...(request.without && { without: request.without }),
    ...(request.draws && { draws: request.draws }),
    keepStory: request.story,
  }
  const { fingerprint, shrinkMs, until } = request
  if (until !== undefined) return untilThen(options, until)
  if (fingerprint && shrinkMs !== undefined) return shrunken(options, { fingerprint, boundMs: shrinkMs })
  const result = await judged(request, options)
  return { ...(fingerprint ? tellingFirst(result, fingerprint) : result), shrunk: null, state: null }
}

async function untilThen(options: RunOptions, until: number): Promise<Judged> {
  let state: WorldState | null = null
  const result = await run({
    ...options,
    stop: ({ events }) => events >= until,
    inspect: async (world) => void (state = await stateOf(world)),
  })
  return { ...result, shrunk: null, state }
}

async function judged(request: RunRequest, options: RunOptions): Promise<RunResult> {
  const result = await run(options)
  const whole = request.draws ? result : await withDatabaseTimeOnly(result, options, databaseTimeEach)
  if (request.verify && whole.verdict === 'pass') return verified(whole, options)
  if (whole.verdict === 'error' && !request.draws) return erred(whole, options)
  return whole.verdict === 'violated' && !request.draws ? kept(whole, options) : whole
}

function dealt(seed: bigint, known: readonly Scenario[]): Scenario {
  if (known.length === 0)
    throw new InvalidArgument('the module has no scenario or bench, but topologies, which explore takes')
  return known[Number(seed % BigInt(known.length))] as Scenario
}

/** An error is told with its stack, by a second run; one that comes but once is no error of the seed. */
async function erred(result: RunResult, options: RunOptions): Promise<RunResult> {
  const again = await run({ ...options, keepStory: true })
  return again.verdict === 'error' && again.traceHash === result.traceHash
    ? again
    : differing(result, options)
}

async function kept(result: RunResult, options: RunOptions): Promise<RunResult> {
  const again = await run({ ...options, keepDraws: true, keepStory: true })
  if (again.traceHash !== result.traceHash) return differing(result, options)
  return { ...result, draws: again.draws, story: again.story }
}

async function verified(result: RunResult, options: RunOptions): Promise<RunResult> {
  const again = await run(options)
  return again.traceHash === result.traceHash ? result : differing(result, options)
}

async function differing(result: RunResult, options: RunOptions): Promise<RunResult> {
  const { says } = await firstDifference(options, result.plan, result.plan)
  return { ...result, verdict: 'nondeterministic', detail: `two runs of this seed differ: ${says}` }
}

/** Runs what is left of a failing run once more, to keep its choices and its story. */
async function shrunken(options: RunOptions, asked: ShrinkOptions): Promise<Judged> {
  const same = matches(asked.fingerprint)
  const failing = await run({ ...options, keepStory: true })
  const found = await shrink(failing, asked, (candidate) => tried(options, candidate, asked), realMs)
  const { plan, without, ...about } = found
  const least = { ...options, plan, without, keepDraws: true, keepStory: true }
  const result = await withDatabaseTimeOnly(
    await run(least),
    least,
    asked.fingerprint.property === databaseTimeOnly ? 1 : databaseTimeEach,
  )
  const passing = result.violations.some(same) ? await nearest(least, result, same) : null
  return { ...tellingFirst(result, asked.fingerprint), shrunk: { ...about, passing }, state: null }
}

/** A candidate runs only as long as it takes to fail, unless it takes two runs to see that. */
async function tried(
  options: RunOptions,
  candidate: Required<Pick<RunOptions, 'plan' | 'without'>>,
  { fingerprint }: ShrinkOptions,
): Promise<RunResult> {
  const own = { ...options, ...candidate }
  if (fingerprint.property === databaseTimeOnly) return withDatabaseTimeOnly(await run(own), own, 1)
  const same = matches(fingerprint)
  return run({ ...own, stop: ({ violations }) => violations.some(same) })
}

/** The same without its last fault, or else its last step: what that changes is what to look at. */
async function nearest(
  options: RunOptions,
  { plan, steps, without }: RunResult,
  same: (violation: RunResult['violations'][number]) => boolean,
): Promise<Passing | null> {
  const last = plan.toSorted((a, b) => a.atMs - b.atMs).at(-1)
  const step = Array.from({ length: steps }, (_, k) => k).findLast((k) => !without.includes(k))
  if (!last && step === undefined) return null
  const less = last
    ? { plan: plan.filter((fault) => fault !== last), without }
    : { plan, without: [...without, step as number] }
  const { violations, story } = await run({ ...options, ...less, keepDraws: false, keepStory: true })
  return violations.some(same) ? null : { lacks: last?.id ?? `step ${step}`, story: story ?? [] }
}
