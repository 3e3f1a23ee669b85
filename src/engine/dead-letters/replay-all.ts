import type { Lanes } from '../jobs/filters.ts'
import { sleep } from '../ports/clock.ts'
import type { DeadLetterPage, DeadLetterQuery } from '../ports/dead-letters.ts'
import type { DeadLetterParts } from './dead-letters.ts'
import { replayIdOf } from './replay-id.ts'

export interface ReplayAllOptions extends Lanes {
  /** How many at most; default all. */
  readonly limit?: number
  /** How many in one write; default 100, 1 to 1,000. Their inputs are read, of up to a mebibyte each. */
  readonly batch?: number
  /** Ends it after the batch in hand; what was done stands. */
  readonly signal?: AbortSignal
}

export interface ReplayedAll {
  /** How many were replayed by this call. */
  readonly replayed: number
  /** How many others replayed, retried or discarded meanwhile, whatever became of them since. */
  readonly gone: number
  /** How many stay dead letters, since the id of their replay belongs to another job. */
  readonly taken: number
  /** False if there may be more: it was cut off, by `limit` or `signal`. */
  readonly complete: boolean
}

interface AllToReplay extends Pick<DeadLetterQuery, 'kinds' | 'queues'> {
  readonly limit: number
  readonly batch: number
  readonly signal?: AbortSignal
}

export async function replayAll(
  { store, clock, random, ask, changed }: DeadLetterParts,
  { limit, batch, signal, ...lanes }: AllToReplay,
): Promise<ReplayedAll> {
  // What dies later is a dead letter of this moment, even if it is one of these that failed again.
  const beforeMs = await ask('now', store.now())
  const done = { replayed: 0, gone: 0, taken: 0 }
  let cursor: string | null = null
  for (let left = limit; ; left = limit - done.replayed) {
    if (left <= 0 || signal?.aborted) return { ...done, complete: false }
    const query = { ...lanes, limit: Math.min(batch, left), beforeMs, cursor }
    const page: DeadLetterPage = await ask('deadLetters.list', store.deadLetters.list(query))
    if (page.jobs.length > 0) {
      const replays = page.jobs.map(({ spec }) => ({ id: spec.id, as: replayIdOf(spec) }))
      const params = { command: random.id('command'), replays, beforeMs }
      const { results } = await ask('deadLetters.replay', store.deadLetters.replay(params))
      for (const { kind } of results) {
        if (kind === 'replayed' || kind === 'taken') done[kind] += 1
        else done.gone += 1
      }
      changed()
    }
    cursor = page.next
    if (cursor === null) return { ...done, complete: true }
    // A store that answers at once would keep everything else in this process waiting, and a signal unheard.
    if (done.replayed < limit) await sleep(clock, 0, 'replay-all')
  }
}
