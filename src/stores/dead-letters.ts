import { InvalidArgument } from '../engine/errors.ts'
import { shown } from '../engine/given.ts'
import {
  type DeadLetterQuery,
  type Discarded,
  type ReplayParams,
  type Replayed,
  replaysMax,
} from '../engine/ports/dead-letters.ts'
import type { JobRecord } from '../engine/jobs/record.ts'

/** What the stores say alike of dead letters. */

/** A place in their order. */
export interface DeadPlace {
  readonly atMs: number
  readonly seq: number
}

/** Before all of them. */
const start: DeadPlace = { atMs: -Number.MAX_SAFE_INTEGER, seq: 0 }

export function placeAt(cursor: string | null): DeadPlace {
  if (cursor === null) return start
  const [, atMs, seq] = /^(-?\d{1,16})\.(\d{1,16})$/.exec(cursor) ?? []
  if (atMs !== undefined && seq !== undefined) return { atMs: Number(atMs), seq: Number(seq) }
  throw new InvalidArgument(`cursor must be the next of a page, not ${shown(cursor)}`)
}

/** So many are answered at the most. */
export const listedMax = 1_000

export function listLimit({ limit }: Pick<DeadLetterQuery, 'limit'>): number {
  return Math.max(0, Math.min(limit, listedMax))
}

/** A page of `limit`, of one job more than that if there are so many. */
export function pageOf(
  jobs: readonly JobRecord[],
  limit: number,
): { readonly jobs: readonly JobRecord[]; readonly next: string | null } {
  const page = jobs.slice(0, limit)
  const last = page.at(-1)
  const more = jobs.length > limit && last !== undefined
  return { jobs: page, next: more ? `${last.deadAtMs}.${last.seq}` : null }
}

export function requireReplays({ replays }: ReplayParams): void {
  requireFew(replays.length)
  for (const what of ['id', 'as'] as const) {
    if (new Set(replays.map((entry) => entry[what])).size === replays.length) continue
    throw new InvalidArgument(`replays must not name the same ${what} twice`)
  }
}

export function requireFew(entries: number): void {
  if (entries <= replaysMax) return
  throw new InvalidArgument(`${entries} dead letters; at most ${replaysMax} are taken in one call`)
}

/** Whether what a replay is to make anew is this death of the job, not a later one. */
export function diedBefore({ deadAtMs }: Pick<JobRecord, 'deadAtMs'>, beforeMs: number = Infinity): boolean {
  return deadAtMs !== null && deadAtMs < beforeMs
}

type Standing = Pick<JobRecord, 'state' | 'replayedAs' | 'lastCommand'>

/** What is told of a job that is no dead letter any more, or never was; null: there is none. */
export function standing(job: Standing | null, command: string): Replayed {
  if (!job) return { kind: 'missing' }
  const { state, replayedAs: as, lastCommand } = job
  if (as === null) return { kind: 'refused', state }
  return { kind: lastCommand === command ? 'replayed' : 'already', as }
}

/** What is told of a job that there was nothing to discard of. */
export function undiscarded(job: Pick<Standing, 'state' | 'replayedAs'> | null): Discarded {
  if (!job) return { kind: 'missing' }
  const { state, replayedAs } = job
  return state === 'failed' && replayedAs === null
    ? { kind: 'discarded' }
    : { kind: 'refused', state, replayedAs }
}
