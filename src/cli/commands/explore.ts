import { InvalidArgument } from '../../engine/errors.ts'
import { count, inertJson, quoted } from '../../report/format.ts'
import { type ExploredTopology, type ExploreReport, verdictOfExplored } from '../../report/explore/report.ts'
import { exploreText } from '../../report/explore/text.ts'
import { exploreJson } from '../../report/explore/json.ts'
import { exitCodes } from '../../report/report.ts'
import { topologiesIn } from '../../sim/catalogue.ts'
import { counterexampleOf, scheduleRequest } from '../../sim/explore/counterexample.ts'
import type { Counts, Explored } from '../../sim/explore/explore.ts'
import { topologyNamed } from '../../sim/explore/topologies/index.ts'
import { type Size, type Topology, sized } from '../../sim/explore/topology.ts'
import type { Judged } from '../../sim/judge.ts'
import { exploreInThreads } from '../../sim/threads/explore-pool.ts'
import { runPool } from '../../sim/threads/pool.ts'
import { about } from '../about.ts'
import { writeReplay } from '../files.ts'
import { moduleUrl } from '../options.ts'
import { createProgress } from '../progress.ts'
import { writeExploreReports } from '../reports.ts'

export interface ExploreOptions {
  readonly scenario?: string
  readonly deviations?: number
  /** So many as take seconds. */
  readonly quick?: boolean
  readonly workers?: number
  readonly jobs?: number
  readonly seconds?: number
  readonly threads?: number
  readonly states?: number
  readonly silentMs: number
  readonly report: string
  readonly json?: boolean
}

/** Walks all schedules of topologies to a stated bound, tells what came of it, and answers the exit code. */
export async function explore(file: string | undefined, options: ExploreOptions): Promise<number> {
  const url = file === undefined ? null : moduleUrl(file)
  const code = about()
  const progress = createProgress(options.json ?? false)
  const explored: ExploredTopology[] = []
  for (const topology of await chosen(url, options)) {
    const { size, most, ...result } = await exploreOne(topology, url, options, (line) => progress.tell(line))
    const failure = result.found
      ? counterexampleOf(await retraced(topology, result, size, url, options))
      : null
    const from = { ...code, store: 'memory', file: file ?? null }
    const replay = failure && writeReplay(options.report, failure, from)
    explored.push({ topology: sized(topology, size), deviations: most, result, failure, replay })
  }
  progress.end()
  const report: ExploreReport = { ...code, module: file ?? null, explored, ...verdictOfExplored(explored) }
  writeExploreReports(options.report, report, again(file, options))
  process.stdout.write(options.json ? `${inertJson(exploreJson(report))}\n` : exploreText(report))
  return exitCodes[report.verdict]
}

async function chosen(url: string | null, { scenario }: ExploreOptions): Promise<readonly Topology[]> {
  const known = await topologiesIn(url)
  if (known.length === 0) throw new InvalidArgument('the module exports no topology')
  return scenario === undefined ? known : [topologyNamed(scenario, known)]
}

async function exploreOne(
  topology: Topology,
  url: string | null,
  options: ExploreOptions,
  tell: (line: string) => void,
): Promise<Explored & { readonly size: Size; readonly most: number }> {
  const { workers, jobs, threads, seconds, states, silentMs: silentMsMax } = options
  const size = { ...(workers !== undefined && { workers }), ...(jobs !== undefined && { jobs }) }
  const own = options.quick ? (topology.quick ?? topology.deviations) : topology.deviations
  const most = options.deviations ?? own
  const explored = await exploreInThreads({
    url,
    topology,
    size,
    deviations: most,
    silentMsMax,
    ...(threads !== undefined && { threads }),
    ...(states !== undefined && { statesMax: roomFor(states) }),
    ...(seconds !== undefined && { boundMs: seconds * 1_000 }),
    progress: (soFar) => tell(progressLine(topology.name, most, soFar)),
  })
  return { ...explored, size, most }
}

/** A table is at most half full, and a power of two. */
function roomFor(states: number): number {
  return 2 ** Math.ceil(Math.log2(2 * states))
}

function progressLine(
  name: string,
  most: number,
  { level, left, states, distinct, pruned, wallMs }: Counts,
): string {
  const speed = count((1_000 * states) / Math.max(1, wallMs))
  return `  ${name}: ${level} of ${most} deviations, ${count(left)} schedules left; ${count(states)} states, ${count(distinct)} distinct, ${count(pruned)} pruned, ${speed} a second`
}

/** The schedule once more, for its story. */
async function retraced(
  { name }: Topology,
  { found }: Pick<Explored, 'found'>,
  size: Size,
  url: string | null,
  { silentMs }: ExploreOptions,
): Promise<Judged> {
  const request = scheduleRequest(name, found?.deviations ?? [], size)
  let left = 1
  let judged: Judged | null = null
  await runPool({
    store: () => ({ name: 'memory', ground: null }),
    url,
    threads: 1,
    silentMsMax: silentMs,
    next: () => (left-- > 0 ? { index: 0, request } : null),
    done: (_, ran) => {
      if (ran.kind === 'result') judged = ran.result
    },
  })
  if (!judged)
    throw new InvalidArgument(`the schedule that was found in ${name} did not come to its end again`)
  return judged
}

/** The command that makes the report again. */
function again(
  file: string | undefined,
  { scenario, deviations, quick, workers, jobs, seconds, states }: ExploreOptions,
): string {
  const parts = ['npx holdfast explore', ...(file === undefined ? [] : [quoted(file)])]
  if (scenario !== undefined) parts.push(`--scenario ${quoted(scenario)}`)
  for (const [name, value] of Object.entries({ deviations, workers, jobs, seconds, states }))
    if (value !== undefined) parts.push(`--${name} ${value}`)
  if (quick) parts.push('--quick')
  return parts.join(' ')
}
