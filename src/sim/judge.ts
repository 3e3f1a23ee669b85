import { standardProperties } from '../properties/index.ts'
import { scenarioNamed, storeNamed } from './catalogue.ts'
import type { Draws } from './chooser.ts'
import type { Fault } from './faults/fault.ts'
import { firstDifference, withDatabaseTimeOnly } from './metamorphic.ts'
import { type RunOptions, type RunResult, type StoreFactory, run } from './run.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { parseSeed } from './seed.ts'

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
  readonly draws: Draws | null
}

/** One in four seeds that skew a clock is run again without: it costs a whole run. */
const databaseTimeEach = 4

export interface JudgeHooks extends Pick<RunOptions, 'beat' | 'trap'> {
  /** The store that the request names, where it is open already. */
  readonly store?: StoreFactory
}

/** Runs one request and judges it; a run that fails is run again to keep its choices and its story. */
export async function judge(
  request: RunRequest,
  known: readonly Scenario[],
  { store, ...hooks }: JudgeHooks,
): Promise<RunResult> {
  if (store) return judgeOn(store, request, known, hooks)
  const opened = await (await storeNamed(request.store))(null)
  try {
    return await judgeOn(opened.open, request, known, hooks)
  } finally {
    await opened.close()
  }
}

async function judgeOn(
  store: StoreFactory,
  request: RunRequest,
  known: readonly Scenario[],
  hooks: JudgeHooks,
): Promise<RunResult> {
  const seed = parseSeed(request.seed)
  const scenario = request.scenario === null ? dealt(seed, known) : scenarioNamed(request.scenario, known)
  const options: RunOptions = {
    ...hooks,
    seed,
    scenario,
    store,
    properties: standardProperties,
    ...(request.families && { families: request.families }),
    ...(request.plan && { plan: request.plan }),
    ...(request.draws && { draws: request.draws }),
    keepStory: request.story,
  }
  const result = await run(options)
  const whole = request.draws ? result : await withDatabaseTimeOnly(result, options, databaseTimeEach)
  if (request.verify && whole.verdict === 'pass') return verified(whole, options)
  if (whole.verdict === 'error' && !request.draws) return erred(whole, options)
  return whole.verdict === 'violated' && !request.draws ? kept(whole, options) : whole
}

function dealt(seed: bigint, known: readonly Scenario[]): Scenario {
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
