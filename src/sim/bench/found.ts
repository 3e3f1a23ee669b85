import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { failureText } from '../../report/text.ts'
import { verdictOf } from '../../report/report.ts'
import type { Fault } from '../faults/fault.ts'
import { type ReplayFile, replayOf } from '../replay.ts'
import type { Failure, Summary } from '../tally.ts'
import type { About } from './about.ts'
import type { Bench } from './options.ts'

/** One failure, in plain data and in words. */
export interface BenchFailure {
  /** What was violated; for a run that is no verdict, what it was instead. */
  readonly property: string
  readonly kind: Failure['kind']
  readonly seed: string
  readonly message: string
  /** The faults that it takes, once shrunk; else all that the seed drew. */
  readonly faults: readonly Fault[]
  /** How many of the enqueued jobs it takes, likewise. */
  readonly steps: number
  readonly shrunk: boolean
  /** What broke, the faults, the story of the job, and how to see it again. */
  readonly text: string
  /** The command, or the call, that makes it happen again. */
  readonly replay: string
  /**
   * Complete in itself: as JSON it is what `replay` and `holdfast replay` read. Null for a run that has no choices to
   * keep, and for a trial.
   */
  readonly file: ReplayFile | null
}

/** `inconclusive`: nothing was violated, and something that was to be seen was not; `reasons` say what. */
export interface BenchResult {
  readonly verdict: 'pass' | 'violated' | 'inconclusive' | 'nondeterministic'
  readonly reasons: readonly string[]
  readonly seeds: number
  readonly events: number
  readonly simulatedMs: number
  readonly traceHash: string
  /** How often each fault family struck. */
  readonly faults: Readonly<Record<string, number>>
  readonly properties: Summary['properties']
  readonly failures: readonly BenchFailure[]
}

export interface ToldFrom {
  readonly bench: Bench
  readonly code: About
  readonly store: string
  /** Where the replay file of a failure was written, if it was. */
  readonly pathOf: (failure: Failure) => string | null
  /** How to see it again where neither its seed nor a file says it all. */
  readonly again?: string
}

export function resultOf(summary: Summary, asked: number, from: ToldFrom): BenchResult {
  const { seeds, events, simulatedMs, traceHash, faults, properties, failures } = summary
  return {
    ...verdictOf(summary, asked),
    seeds,
    events,
    simulatedMs,
    traceHash,
    faults,
    properties,
    failures: failures.map((failure) => told(failure, from)),
  }
}

export function fileOf(
  { result }: Failure,
  { bench, code, store }: Omit<ToldFrom, 'pathOf'>,
): ReplayFile | null {
  return result?.draws ? replayOf(result, { ...code, store, file: moduleOf(bench) }) : null
}

function told(failure: Failure, from: ToldFrom): BenchFailure {
  const { property, kind, seed, message, result } = failure
  const { bench, code, store } = from
  const file = from.pathOf(failure)
  const replays = file === null ? [] : [{ seed, property, path: file }]
  const context = { ...code, store, replays, module: moduleOf(bench), families: null }
  const lines = failureText(failure, context)
  const command = lines.at(-1) ?? ''
  // What is no export of a module the command cannot find: then the test that has it must.
  const call = `replay(${bench.name}, '${file ?? seed}')`
  const replay = from.again ?? (bench.module === null ? call : command.replace(/^\s*replay: /, ''))
  return {
    property,
    kind,
    seed,
    message,
    faults: result?.plan ?? [],
    steps: result ? result.steps - result.without.length : 0,
    shrunk: result?.shrunk != null,
    text: [...lines.slice(0, -1), `  replay: ${replay}`].join('\n'),
    replay,
    file: from.again === undefined ? fileOf(failure, from) : null,
  }
}

/** Relative to where the program runs: a path of this machine has no business in a file that is sent around. */
function moduleOf({ module }: Bench): string | null {
  if (module === null || !module.startsWith('file:')) return module
  return path.relative('', fileURLToPath(module))
}
