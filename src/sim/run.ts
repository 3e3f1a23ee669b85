import { InvalidArgument, InvalidConfig } from '../engine/errors.ts'
import type { InspectableStore } from '../engine/ports/store.ts'
import type { Property } from '../properties/property.ts'
import { ambientOf } from './ambient.ts'
import { createBarrier } from './barrier.ts'
import { type Chooser, Diverged, type Draws, listChooser, seededChooser } from './chooser.ts'
import { createCoverage } from './coverage.ts'
import { type Director, createDirector } from './director.ts'
import { type Stop, drive } from './driver.ts'
import { type Fault, type FaultPlace, drawPlan } from './faults/fault.ts'
import { familyNamed, serviceFamilies } from './faults/index.ts'
import { type Leak, type LeakGuard, leakGuard } from './guard/guard.ts'
import type { SimNode } from './node.ts'
import { type PropertyTally, type Recorder, type Violation, createRecorder } from './recorder.ts'
import type { Scenario, WorkStep } from './scenarios/scenario.ts'
import { type Seed, formatSeed } from './seed.ts'
import { callsOf } from './services/service.ts'
import { requireSteps } from './workload.ts'
import { type World, createWorld } from './world.ts'

/** Makes the empty store of one run, under the database time that it is given; the run closes it. */
export type StoreFactory = (time: { nowMs(): number }) => InspectableStore | Promise<InspectableStore>

export interface RunOptions {
  readonly seed: Seed
  readonly scenario: Scenario
  readonly store: StoreFactory
  readonly properties: readonly Property[]
  /** In place of the work that the scenario draws. */
  readonly work?: readonly WorkStep[]
  /** In place of the plan that the seed draws. */
  readonly plan?: readonly Fault[]
  /** Steps of the workload that are left out, by their number from 0. */
  readonly without?: readonly number[]
  /** Only these families, of those that the scenario has. */
  readonly families?: readonly string[]
  /** A strict list of choices, in place of those that the seed gives. */
  readonly draws?: Draws
  readonly keepDraws?: boolean
  readonly keepStory?: boolean
  /** Asked after each event whether it is enough; default: never. */
  readonly stop?: (recorder: Recorder) => boolean
  /** Called with the world as it was left. */
  readonly inspect?: (world: World) => Promise<void>
  /** Called now and then: shows a watchdog that the run is alive. */
  readonly beat?: () => void
  /** Given the function by which an error from outside the events, such as an unhandled rejection, ends the run. */
  readonly trap?: (fail: (error: unknown) => void) => void
}

/** `error`: our own code threw; `livelock`: time stood still; both are no verdict on the properties. */
export type RunVerdict = 'pass' | 'violated' | 'nondeterministic' | 'diverged' | 'livelock' | 'error'

export interface RunResult {
  readonly seed: string
  readonly scenario: string
  readonly verdict: RunVerdict
  readonly detail: string | null
  readonly leak: Leak | null
  readonly events: number
  readonly traceHash: string
  readonly simulatedMs: number
  readonly plan: readonly Fault[]
  /** Steps of the workload, with those that were left out. */
  readonly steps: number
  readonly without: readonly number[]
  readonly strikes: Readonly<Record<string, number>>
  /** What it made happen, coarsely: see `coverage.ts`. */
  readonly behaviours: readonly string[]
  readonly tallies: readonly PropertyTally[]
  readonly violations: readonly Violation[]
  readonly draws: Draws | null
  readonly story: Recorder['story']
}

/** Runs one seed of one scenario to its end. */
export async function run(options: RunOptions): Promise<RunResult> {
  const { seed, scenario } = options
  const chooser: Chooser = options.draws
    ? listChooser(options.draws, {
        eventNow: () => world.recorder.events,
        // Whoever asked may swallow the exception, as an engine does with what a store call throws.
        diverged: (error) => world.fail(error),
      })
    : seededChooser(seed, options.keepDraws ?? false)
  const nodes = nodesOf(scenario)
  // A replay has its plan in its file, so the choices of the plan are no part of its list.
  const plan = options.plan ?? planOf(scenario, seededChooser(seed, false), options.families)
  const course: Course = { director: null, steps: 0 }
  const coverage = createCoverage()
  const world: World = await createWorld({
    chooser,
    store: options.store,
    nodes,
    services: scenario.services ?? [],
    recorder: (now) =>
      createRecorder({
        properties: options.properties,
        own: scenario.properties ?? [],
        broke: (error) => world.fail(error),
        keepStory: options.keepStory ?? false,
        now,
        watch: (event) => {
          coverage.watch(event)
          course.director?.watch(event)
        },
      }),
  })
  options.trap?.(world.fail)
  const over = await perform(world, course, plan, options)
  await options.inspect?.(world)
  // A store may hold memory that the garbage collector does not see.
  await world.database.raw.close()
  return {
    seed: formatSeed(seed),
    scenario: scenario.name,
    ...over,
    events: world.recorder.events,
    traceHash: world.recorder.digest(),
    simulatedMs: world.nowMs,
    plan,
    steps: course.steps,
    without: options.without ?? [],
    strikes: Object.fromEntries([...world.strikes].sort(([a], [b]) => (a < b ? -1 : 1))),
    behaviours: coverage.behaviours,
    tallies: world.recorder.tallies,
    violations: world.recorder.violations,
    draws: chooser.list,
    story: world.recorder.story,
  }
}

export type Over = Pick<RunResult, 'verdict' | 'detail' | 'leak'>

/** The director follows the history from the moment it is there. */
interface Course {
  director: Director | null
  steps: number
}

async function perform(
  world: World,
  course: Course,
  plan: readonly Fault[],
  {
    scenario,
    work: given,
    without = [],
    stop: enough,
    beat = () => {},
    keepStory: traces = false,
  }: RunOptions,
): Promise<Over> {
  const guard = ambientOf(scenario.ambient, world, leakGuard())
  try {
    const steps = given ?? workloadOf(scenario, world.chooser, guard)
    const leak = guard.takeLeak()
    if (leak) return verdictOf({ kind: 'leak', leak }, false, 0)
    course.steps = steps.length
    const kept = without.length === 0 ? steps : steps.filter((_, k) => !without.includes(k))
    const director = createDirector(world, scenario, world.nodes[0] as SimNode, plan, kept)
    course.director = director
    director.begin()
    const over = (): boolean => director.over || enough?.(world.recorder) === true
    const stop = await drive(world, createBarrier(), guard, over, { beat, traces })
    return verdictOf(stop, over(), world.recorder.violations.length)
  } catch (error) {
    return verdictOf({ kind: 'failure', error }, false, 0)
  }
}

/** A workload is a user's code, and as much a part of the seed as a handler. */
function workloadOf(scenario: Scenario, chooser: Chooser, guard: LeakGuard): readonly WorkStep[] {
  guard.arm()
  try {
    const steps: unknown = scenario.workload((bound, what, k) =>
      chooser.below(bound, 'workload', scenario.name, what, k),
    )
    requireSteps(scenario, steps)
    return steps
  } finally {
    guard.disarm()
  }
}

/** `over`: it went to its end. */
export function verdictOf(stop: Stop | null, over: boolean, violations: number): Over {
  if (stop?.kind === 'leak') {
    const { what, site } = stop.leak
    return { verdict: 'nondeterministic', detail: `${what} at ${site}`, leak: stop.leak }
  }
  if (stop?.kind === 'livelock') {
    const detail = `time stood still at +${stop.atMs / 1000}s, last in '${stop.label}'`
    return { verdict: 'livelock', detail, leak: null }
  }
  if (stop?.kind === 'failure') {
    const { error } = stop
    if (error instanceof Diverged) return { verdict: 'diverged', detail: error.message, leak: null }
    // What is wrong with a user's scenario is said in one line; a stack of ours would not help.
    const users = error instanceof InvalidArgument || error instanceof InvalidConfig
    const detail = users ? error.message : textOf(error)
    return { verdict: 'error', detail, leak: null }
  }
  if (violations > 0) return { verdict: 'violated', detail: null, leak: null }
  if (!over) return { verdict: 'error', detail: 'nothing was left to happen before the end', leak: null }
  return { verdict: 'pass', detail: null, leak: null }
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  } catch {
    return 'a value that cannot be printed was thrown'
  }
}

type Able = ReturnType<NonNullable<Scenario['ability']>>

export type Machines = Pick<
  Scenario,
  | 'workers'
  | 'concurrency'
  | 'intervals'
  | 'retention'
  | 'jobs'
  | 'jobsOf'
  | 'duties'
  | 'ability'
  | 'schedules'
  | 'rolling'
>

/** The machines of a scenario: a producer, then the workers. */
export function nodesOf(scenario: Machines): SimNode[] {
  const { concurrency, intervals, jobs } = scenario
  const everything: Able = { jobs, queues: [...new Set(jobs.map(({ settings }) => settings.queue))] }
  const node = (name: string, index: number, works: boolean, able = everything): SimNode => ({
    name,
    index,
    jobs: able.jobs,
    jobsOf: scenario.jobsOf ?? null,
    queues: works ? Object.fromEntries(able.queues.map((queue) => [queue, { concurrency }])) : {},
    intervals,
    retention: scenario.retention ?? false,
    works,
    schedules: works && scenario.schedules !== undefined,
    rolling: scenario.rolling ?? null,
    duties: works ? (scenario.duties ?? []) : [],
    skewMs: 0,
    pace: null,
    timers: null,
    refused: null,
    incarnations: 0,
    process: null,
    armed: [],
  })
  return [
    node(producer, 1, false),
    ...workersOf(scenario).map((name, k) => node(name, k + 2, true, scenario.ability?.(k))),
  ]
}

const producer = 'client'

function workersOf({ workers }: Pick<Scenario, 'workers'>): string[] {
  return Array.from({ length: workers }, (_, k) => `w${k + 1}`)
}

/** What the faults of a scenario can strike. */
export function placeOf(scenario: Scenario): FaultPlace {
  return {
    nodes: workersOf(scenario),
    producers: [producer],
    forMs: scenario.activeMs,
    leaseTtlMs: 30_000,
    commits: scenario.commits ?? false,
    schedules: scenario.schedules !== undefined,
    deadLetters: scenario.families.includes('dead-letters'),
    restores: scenario.families.includes('database-restored'),
    talks: scenario.talks ?? false,
    services: callsOf(scenario.services ?? []),
  }
}

function planOf(scenario: Scenario, chooser: Chooser, only: readonly string[] | undefined): Fault[] {
  const families = scenario.families
    .filter((name) => only === undefined || only.includes(name))
    .flatMap((name) => familyNamed(name) ?? [])
    .filter((family) => scenario.services?.length || !serviceFamilies.includes(family))
  const place = placeOf(scenario)
  return drawPlan(families, place, chooser, scenario.swarm, scenario.density)
}
