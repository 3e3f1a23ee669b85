import { existsSync, readFileSync } from 'node:fs'
import { InvalidArgument } from '../../engine/errors.ts'
import { standardProperties } from '../../properties/index.ts'
import { count, inert, inertJson } from '../../report/format.ts'
import { exitCodes, verdictOf } from '../../report/report.ts'
import { stateText } from '../../report/state.ts'
import { storyLines } from '../../report/teller.ts'
import { failureText, tagOf } from '../../report/text.ts'
import { requireFamilies } from '../../sim/catalogue.ts'
import type { RunRequest } from '../../sim/judge.ts'
import { type ReplayFile, parseReplay } from '../../sim/replay.ts'
import { fileRequest, seedRequest } from '../../sim/requests.ts'
import type { WorldState } from '../../sim/state-of.ts'
import { type Summary, createTally } from '../../sim/tally.ts'
import { runPool } from '../../sim/threads/pool.ts'
import { about } from '../about.ts'
import { moduleUrl } from '../options.ts'
import { type StoreOptions, withStore } from '../store.ts'

export interface ReplayOptions extends StoreOptions {
  readonly scenario?: string
  readonly module?: string
  readonly faults?: readonly string[]
  readonly verify?: boolean
  readonly silentMs: number
  readonly trace?: boolean
  /** Stop after so many events. */
  readonly until?: number
  readonly json?: boolean
}

/** Of what led to the state that `--until` shows. */
const linesBefore = 12

/** Runs one seed, or a replay file, again; answers the exit code of what happened this time. */
export async function replay(target: string, options: ReplayOptions): Promise<number> {
  if (options.faults) requireFamilies(options.faults)
  const file = existsSync(target) ? replayFile(target) : null
  const { scenario = null, store: on, faults: families = null, verify = false } = options
  const asked = file
    ? fileRequest(file)
    : seedRequest(target, inert(target), { scenario, store: on, families, verify })
  const request = options.until === undefined ? asked : { ...asked, until: options.until }
  const code = about()
  const module = options.module ?? file?.file ?? null
  const tally = createTally({
    properties: standardProperties,
    asked: [],
    single: true,
  })
  let story: readonly string[] = []
  let state: WorldState | null = null
  await withStore({ ...options, store: request.store }, (store) =>
    runPool({
      store,
      url: module === null ? null : moduleUrl(module),
      threads: 1,
      silentMsMax: options.silentMs,
      next: once(request),
      done: (index, ran) => {
        tally.add(index, ran)
        if (ran.kind !== 'result') return
        story = storyLines(ran.result.story ?? [])
        state = ran.result.state
      },
    }),
  )
  const summary = tally.summary()
  const { verdict, reasons } = verdictOf(summary, 1)
  const replays = file ? summary.failures.map(({ seed, property }) => ({ seed, property, path: target })) : []
  if (options.json) {
    const failures = summary.failures.map(({ kind, property, seed, message }) => ({
      kind,
      property,
      seed,
      message,
    }))
    const { version, engine } = code
    const { events, traceHash } = summary
    process.stdout.write(
      `${inertJson({ command: 'replay', version, engine, verdict, reasons, events, traceHash, failures })}\n`,
    )
    return exitCodes[verdict]
  }
  if (state) {
    const about = new Set(
      summary.failures.flatMap(({ result }) => (result?.violations ?? []).map(({ subject }) => subject)),
    )
    const told = options.trace ? story : story.slice(-linesBefore)
    const failed = summary.failures.map(
      (failure) => `${tagOf(failure)} ${inert(`${failure.property}: ${failure.message}`)}`,
    )
    process.stdout.write(`${[...told, '', ...stateText(state, about), ...failed].join('\n')}\n`)
    // A part of a run is no verdict but on what it shows.
    return failed.length > 0 ? exitCodes[verdict] : exitCodes.pass
  }
  const lines = options.trace ? [...story, ''] : []
  for (const failure of summary.failures)
    lines.push(...failureText(failure, { ...code, replays, module, ...request }), '')
  lines.push(...comparison(file, summary, code.engine, reasons))
  process.stdout.write(`${lines.join('\n')}\n`)
  return exitCodes[verdict]
}

function replayFile(path: string): ReplayFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new InvalidArgument(`${path} cannot be read: ${String(error)}`, { cause: error })
  }
  return parseReplay(text)
}

function once(request: RunRequest): () => { index: number; request: RunRequest } | null {
  let left = 1
  return () => (left-- > 0 ? { index: 0, request } : null)
}

function comparison(
  file: ReplayFile | null,
  summary: Summary,
  engine: string,
  reasons: readonly string[],
): string[] {
  const failure = summary.failures[0]
  if (!failure && reasons.length > 0)
    return ['INCONCLUSIVE  this run is no pass:', ...reasons.map((reason) => `  - ${inert(reason)}`)]
  if (!file) {
    const [scenario] = Object.keys(summary.scenarios)
    const ran = `scenario ${inert(scenario ?? '')}, ${count(summary.events)} events, trace ${summary.traceHash}`
    return [failure ? tagOf(failure) : `PASS  no invariant was violated (${ran})`]
  }
  const other =
    file.engine === engine ? [] : [`  recorded with engine ${inert(file.engine)}, this is ${engine}`]
  if (!failure) {
    return [`PASS  the recorded failure (${inert(file.property)}) does not happen any more`, ...other]
  }
  const first = failure.result?.violations[0]
  const same = failure.property === file.property && first?.kind === file.kind && first.event === file.event
  if (!same) return ['FAIL  another failure than the recorded one', ...other]
  const traced = failure.result?.traceHash === file.traceHash
  return [`FAIL  the recorded failure, at the same event${traced ? '' : ' of another trace'}`, ...other]
}
