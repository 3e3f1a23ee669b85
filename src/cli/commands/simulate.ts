import { InvalidArgument } from '../../engine/errors.ts'
import { standardProperties } from '../../properties/index.ts'
import { count, quoted, seconds } from '../../report/format.ts'
import { jsonReport } from '../../report/json.ts'
import { type Report, exitCodes, verdictOf } from '../../report/report.ts'
import { textReport } from '../../report/text.ts'
import { requireFamilies, scenarioNamed, scenariosIn } from '../../sim/catalogue.ts'
import type { RunRequest } from '../../sim/judge.ts'
import { formatSeed, parseSeed, seedAt } from '../../sim/seed.ts'
import { type Deal, shrunk } from '../../sim/shrunk.ts'
import { createTally } from '../../sim/tally.ts'
import { type PoolOptions, runPool } from '../../sim/threads/pool.ts'
import { about } from '../about.ts'
import { writeReplay } from '../files.ts'
import { type Shard, moduleUrl } from '../options.ts'
import { createProgress } from '../progress.ts'
import { writeReports } from '../reports.ts'
import { type StoreOptions, withStore } from '../store.ts'

export interface SimulateOptions extends StoreOptions {
  readonly seed?: string
  readonly seeds?: number
  readonly minutes?: number
  readonly firstSeed?: string
  readonly shard?: Shard
  readonly scenario?: string
  readonly faults?: readonly string[]
  readonly threads?: number
  readonly verify?: boolean
  readonly silentMs: number
  /** Bound of the shrinking of one failure; 0: none is shrunk. */
  readonly shrinkSeconds: number
  readonly report: string
  readonly json?: boolean
}

/** A seed that fails like many others before it teaches nothing new. */
const failuresMax = 20
const defaultMinutes = 1

/** Runs seeds, tells what came of them, and answers the exit code. */
export async function simulate(file: string | undefined, options: SimulateOptions): Promise<number> {
  const url = file === undefined ? null : moduleUrl(file)
  await requireKnown(url, options)
  const code = about()
  const startedMs = performance.now()
  const tally = createTally({
    properties: standardProperties,
    asked: options.faults ?? [],
    single: options.seed !== undefined,
    partial: url !== null || options.scenario !== undefined || options.faults !== undefined,
  })
  const progress = createProgress(options.json ?? false)
  const deal = dealer(options, startedMs)
  const stopped = stopsOnInterrupt()
  const failures = await withStore(options, async (store) => {
    await runPool({
      store,
      url,
      ...(options.threads !== undefined && { threads: options.threads }),
      silentMsMax: options.silentMs,
      next: () => (stopped.aborted || tally.failures >= failuresMax ? null : deal.next()),
      done: (index, ran) => {
        tally.add(index, ran)
        progress.tell(progressLine(deal, tally.failures, performance.now() - startedMs))
      },
    })
    const { failures: found } = tally.summary()
    if (options.shrinkSeconds === 0 || found.length === 0) return found
    progress.tell('  shrinking what failed')
    const { threads, silentMs: silentMsMax } = options
    const rerun: Deal = (work) => runPool({ store, url, silentMsMax, ...(threads && { threads }), ...work })
    return shrunk(found, rerun, { store: options.store, shrinkMs: options.shrinkSeconds * 1_000 })
  })
  progress.end()
  const summary = { ...tally.summary(), failures }
  const replays = summary.failures.flatMap((failure) => {
    const replay = writeReplay(options.report, failure, { ...code, store: options.store, file: file ?? null })
    return replay === null ? [] : [{ seed: failure.seed, property: failure.property, path: replay }]
  })
  const report: Report = {
    command: 'simulate',
    ...code,
    store: options.store,
    module: file ?? null,
    families: options.faults ?? null,
    ...verdictOf(summary, deal.asked, stopped.aborted),
    seedsAsked: deal.asked,
    firstSeed: formatSeed(deal.first),
    wallMs: Math.round(performance.now() - startedMs),
    summary,
    replays,
  }
  writeReports(options.report, report, again(file, options, deal))
  process.stdout.write(options.json ? `${jsonReport(report)}\n` : textReport(report))
  return exitCodes[report.verdict]
}

async function requireKnown(url: string | null, options: SimulateOptions): Promise<void> {
  if (options.faults) requireFamilies(options.faults)
  if (url === null && options.scenario !== undefined) scenarioNamed(options.scenario, await scenariosIn(null))
  const given = [options.seed, options.seeds, options.minutes].filter((option) => option !== undefined)
  if (given.length > 1) throw new InvalidArgument('give one of --seed, --seeds and --minutes')
  if (options.seed !== undefined && (options.firstSeed !== undefined || options.shard)) {
    throw new InvalidArgument('--seed is one seed; --first-seed and --shard go with --seeds or --minutes')
  }
}

/** Ctrl-C ends the campaign, not the report of what it has found; a second one ends the process. */
function stopsOnInterrupt(): AbortSignal {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  return stop.signal
}

interface Dealer {
  readonly first: bigint
  /** How many runs were asked for; null if a time was. */
  readonly asked: number | null
  readonly dealt: number
  readonly next: PoolOptions['next']
}

/** So far apart are the seeds of two parts that run for a time: neither ever comes to those of the other. */
const partSeeds = 2n ** 44n

function dealer(options: SimulateOptions, startedMs: number): Dealer {
  const first = parseSeed(options.seed ?? options.firstSeed ?? '1')
  const { index: part, of } = options.shard ?? { index: 1, of: 1 }
  const total = options.seed === undefined ? (options.seeds ?? null) : 1
  const asked = total === null ? null : Math.max(0, Math.ceil((total - part + 1) / of))
  // A part is a row of seeds, not each n-th: the scenario follows from the seed, so that those would miss some.
  const start =
    total === null
      ? seedAt(first, BigInt(part - 1) * partSeeds)
      : seedAt(first, (part - 1) * Math.floor(total / of) + Math.min(part - 1, total % of))
  const boundMs = total === null ? (options.minutes ?? defaultMinutes) * 60_000 : Number.POSITIVE_INFINITY
  let dealt = 0
  return {
    first,
    asked,
    get dealt() {
      return dealt
    },
    next: () => {
      const over = asked === null ? performance.now() - startedMs >= boundMs : dealt >= asked
      if (over) return null
      const index = dealt++
      return { index, request: requestOf(options, formatSeed(seedAt(start, index))) }
    },
  }
}

function requestOf({ scenario, store, faults, verify }: SimulateOptions, seed: string): RunRequest {
  return {
    seed,
    scenario: scenario ?? null,
    store,
    families: faults ?? null,
    verify: verify ?? false,
    story: false,
    plan: null,
    draws: null,
  }
}

function progressLine({ dealt, asked }: Dealer, failures: number, ms: number): string {
  const of = asked === null ? '' : ` of ${count(asked)}`
  return `  ${count(dealt)}${of} seeds in ${seconds(ms)}, ${failures === 0 ? 'no failure' : `${failures} failing`}`
}

/** The command that makes the report again. */
function again(file: string | undefined, options: SimulateOptions, { first, dealt, asked }: Dealer): string {
  const parts = ['npx holdfast simulate', ...(file === undefined ? [] : [quoted(file)])]
  if (options.seed !== undefined) parts.push(`--seed ${options.seed}`)
  else parts.push(`--seeds ${options.seeds ?? asked ?? dealt}`, `--first-seed ${formatSeed(first)}`)
  if (options.shard) parts.push(`--shard ${options.shard.index}/${options.shard.of}`)
  if (options.scenario !== undefined) parts.push(`--scenario ${quoted(options.scenario)}`)
  if (options.faults) parts.push(`--faults ${options.faults.join(',')}`)
  if (options.verify) parts.push('--verify')
  return [...parts, `--store ${options.store}`].join(' ')
}
