import { existsSync, readFileSync } from 'node:fs'
import { InvalidArgument } from '../../engine/errors.ts'
import { optionsOf, shown } from '../../engine/given.ts'
import { standardProperties } from '../../properties/index.ts'
import { storyLines } from '../../report/teller.ts'
import type { RunRequest } from '../judge.ts'
import { type ReplayFile, parseReplay } from '../replay.ts'
import { fileRequest } from '../requests.ts'
import type { WorkStep } from '../scenarios/scenario.ts'
import type { Fault } from '../faults/fault.ts'
import { createTally } from '../tally.ts'
import { requireSteps } from '../workload.ts'
import { about } from './about.ts'
import type { Bench } from './options.ts'
import { type BenchStore, dealerFor, requireStore } from './deal.ts'
import { type BenchResult, resultOf } from './found.ts'
import { requestOf, requireBench, seedOf } from './simulate.ts'

export interface Replayed extends BenchResult {
  /** Every event of the run, a line each. */
  readonly story: readonly string[]
  /** Whether it is the recorded failure, at the same event; null where a seed was replayed. */
  readonly same: boolean | null
}

export interface ReplayOptions {
  /** Of a seed; default `memory`. A file says on which store it was recorded. */
  readonly store?: BenchStore
}

/**
 * Runs one seed of a bench again, or what a replay file holds: the file itself, or its path. Always in this thread, so
 * that a debugger can stop in a handler. Throws `InvalidArgument`.
 */
export async function replay(
  bench: Bench,
  what: number | bigint | string | ReplayFile,
  options?: ReplayOptions,
): Promise<Replayed> {
  requireBench(bench)
  const file = recorded(what)
  const { store = file?.store ?? 'memory' } = optionsOf(options, { store: true })
  requireStore(store)
  if (file && file.scenario !== bench.name)
    throw new InvalidArgument(`the file is of bench ${shown(file.scenario)}, not of ${shown(bench.name)}`)
  const request = file
    ? fileRequest(file)
    : requestOf(bench, store, seedOf('the second argument, a seed or a replay file,', what))
  const { result, first, story } = await once(bench, store, { ...request, story: true })
  const same =
    file && first?.property === file.property && first.kind === file.kind && first.event === file.event
  return { ...result, story, same }
}

export interface TrialOptions {
  /** What chance follows from; default 1. */
  readonly seed?: number | bigint | string
  /** The faults, in place of those that the seed draws. */
  readonly plan?: readonly Fault[]
  /** The work, in place of the bench's own. */
  readonly steps?: readonly WorkStep[]
}

/** Runs a bench once under faults and work of your own, such as fast-check generates. Throws `InvalidArgument`. */
export async function trial(bench: Bench, options?: TrialOptions): Promise<BenchResult> {
  requireBench(bench)
  const { seed = 1, plan, steps } = optionsOf(options, { seed: true, plan: true, steps: true })
  if (steps !== undefined) requireSteps(bench, steps)
  const request: RunRequest = {
    ...requestOf(bench, 'memory', seedOf('seed', seed)),
    ...(plan && { plan }),
    ...(steps && { work: steps }),
  }
  const again = `trial(${bench.name}, { seed: '${request.seed}', ... }) with the same plan and steps`
  return (await once(bench, 'memory', request, again)).result
}

async function once(bench: Bench, store: BenchStore, request: RunRequest, again?: string) {
  const tally = createTally({ properties: standardProperties, asked: [], single: true, partial: true })
  const dealer = await dealerFor(bench, store, 'here')
  let left = 1
  let lines: readonly string[] = []
  try {
    await dealer.deal({
      next: () => (left-- > 0 ? { index: 0, request } : null),
      done: (index, ran) => {
        tally.add(index, ran)
        if (request.story && ran.kind === 'result') lines = storyLines(ran.result.story ?? [])
      },
    })
  } finally {
    await dealer.close()
  }
  const summary = tally.summary()
  const from = { bench, code: about(), store, pathOf: () => null, ...(again !== undefined && { again }) }
  return {
    result: resultOf(summary, 1, from),
    first: summary.failures[0]?.result?.violations[0] ?? null,
    story: lines,
  }
}

function recorded(what: unknown): ReplayFile | null {
  if (typeof what === 'object' && what !== null) return parseReplay(JSON.stringify(what))
  if (typeof what !== 'string' || !existsSync(what)) return null
  return parseReplay(readFileSync(what, 'utf8'))
}
