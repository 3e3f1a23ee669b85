import { InvalidArgument } from '../engine/errors.ts'
import type { RunRequest } from './judge.ts'
import { databaseTimeOnly } from './metamorphic.ts'
import type { ReplayFile } from './replay.ts'
import { formatSeed, parseSeed } from './seed.ts'

/** What a replay asks of a run. */

const base: Pick<RunRequest, 'families' | 'verify' | 'story'> = { families: null, verify: false, story: true }

export function fileRequest(file: ReplayFile): RunRequest {
  const { seed, scenario, store, plan, without, draws, property, kind, on, deviations, size = {} } = file
  // That property compares two runs, so it needs the seed and the plan, not the choices of one of them.
  const fingerprint = { property, kind, on }
  const strict = property === databaseTimeOnly ? null : draws
  return { ...base, seed, scenario, store, plan, without, draws: strict, fingerprint, deviations, size }
}

/** Throws `InvalidArgument`; `shown` is the text as it may be printed. */
export function seedRequest(
  target: string,
  shown: string,
  options: Pick<RunRequest, 'store'> & Partial<Pick<RunRequest, 'scenario' | 'families' | 'verify'>>,
): RunRequest {
  try {
    const seed = formatSeed(parseSeed(target))
    return { ...base, scenario: null, plan: null, draws: null, ...options, seed }
  } catch (error) {
    throw new InvalidArgument(`${shown} is neither a replay file nor a seed`, { cause: error })
  }
}
