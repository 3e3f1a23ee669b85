import { CommandRefused, InvalidArgument } from '../errors.ts'
import { type Names, optionsOf, requireWhole, shown } from '../given.ts'
import { type Lanes, lanesOf } from '../jobs/filters.ts'
import { type Payloads, plainRecord } from '../jobs/payloads.ts'
import type { JobRecord } from '../jobs/record.ts'
import { requireId } from '../jobs/text.ts'
import type { Clock } from '../ports/clock.ts'
import { type DeadLetterPage, replaysMax } from '../ports/dead-letters.ts'
import type { Random } from '../ports/random.ts'
import type { Store } from '../ports/store.ts'
import type { StoreHealth } from '../store-health.ts'
import { type ReplayAllOptions, type ReplayedAll, replayAll } from './replay-all.ts'
import { replayIdOf } from './replay-id.ts'

/** What an operator may do with the jobs that failed for good, through any engine on the store. */
export interface DeadLetters {
  /** A page of them, those that died first first. Throws `CodecFailed` if the payloads of one cannot be decoded. */
  list(options?: DeadLetterOptions): Promise<DeadLetterPage>
  /** The job, its payloads decoded; null if it is no dead letter, or none any more. */
  get(id: string): Promise<JobRecord | null>
  /**
   * Makes a new job of a dead letter, which is one no more: it states all that the failed one stated, whatever its
   * definition says by now, and runs from the start. Its id follows from that of the first job, as `x~r1` from `x`.
   * `created` is false if somebody else has replayed it, under the id that is answered. Throws `CommandRefused` if it
   * is no dead letter, or if that id belongs to another job.
   */
  replay(id: string): Promise<{ readonly id: string; readonly created: boolean }>
  /**
   * Replays those that died before it began, the first first, each once: what fails again meanwhile is left. What it
   * has done stands if it throws or its process dies; called again, it does the rest.
   */
  replayAll(options?: ReplayAllOptions): Promise<ReplayedAll>
  /** It is a dead letter no more: it stays failed, until it is retried or goes with age. Throws `CommandRefused`. */
  discard(id: string): Promise<void>
}

export interface DeadLetterOptions extends Lanes {
  /** How many at most; default 100, 1 to 1,000. */
  readonly limit?: number
  /** The `next` of the page before; null or left out: from the first on. */
  readonly cursor?: string | null
  /** Payloads as they are stored, for what no codec can read any more; default false. */
  readonly stored?: boolean
}

export interface DeadLetterParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly payloads: Payloads
  readonly ask: StoreHealth['ask']
  /** Jobs have become due. */
  readonly changed: () => void
}

const listOptions: Names<DeadLetterOptions> = {
  limit: true,
  cursor: true,
  kind: true,
  queue: true,
  stored: true,
}
const replayAllOptions: Names<ReplayAllOptions> = {
  limit: true,
  batch: true,
  kind: true,
  queue: true,
  signal: true,
}

export function createDeadLetters(parts: DeadLetterParts): DeadLetters {
  const { store, random, payloads, ask, changed } = parts
  const read = (id: string): Promise<JobRecord | null> => ask('jobs.get', store.jobs.get({ id }))

  return {
    list: async (rest) => {
      const options: DeadLetterOptions = optionsOf(rest, listOptions)
      const { limit = 100, cursor = null, stored = false } = options
      if (typeof stored !== 'boolean')
        throw new InvalidArgument(`stored must be a boolean, not ${shown(stored)}`)
      requireWhole('limit', limit, { min: 1, max: 1_000 }, InvalidArgument)
      if (cursor !== null && typeof cursor !== 'string') {
        throw new InvalidArgument(`cursor must be the next of a page, not ${shown(cursor)}`)
      }
      const query = { limit, cursor, ...lanesOf(options) }
      const page = await ask('deadLetters.list', store.deadLetters.list(query))
      if (stored || !payloads.coded) return page
      const jobs: JobRecord[] = []
      for (const job of page.jobs) jobs.push(await plainRecord(payloads, job))
      return { ...page, jobs }
    },
    get: async (id) => {
      requireId(id)
      const job = await read(id)
      return job && job.deadAtMs !== null ? plainRecord(payloads, job) : null
    },
    replay: async (id) => {
      requireId(id)
      const job = await read(id)
      if (!job) throw new CommandRefused(`replay: there is no job ${id}`)
      const as = replayIdOf(job.spec)
      const params = { command: random.id('command'), replays: [{ id, as }] }
      const { results } = await ask('deadLetters.replay', store.deadLetters.replay(params))
      const result = results[0]
      switch (result?.kind) {
        case 'replayed':
          changed()
          return { id: result.as, created: true }
        case 'already':
          return { id: result.as, created: false }
        case 'taken':
          throw new CommandRefused(`replay: the id ${as} belongs to another job; retry job ${id} instead`)
        case 'refused':
          throw new CommandRefused(
            `replay: job ${id} is ${seenTo(result.state)}, and only a dead letter can be replayed`,
          )
        default:
          throw new CommandRefused(`replay: there is no job ${id} any more`)
      }
    },
    replayAll: async (rest) => {
      const options: ReplayAllOptions = optionsOf(rest, replayAllOptions)
      const { limit = Infinity, batch = 100, signal } = options
      if (limit !== Infinity) {
        requireWhole('limit', limit, { min: 1, max: Number.MAX_SAFE_INTEGER }, InvalidArgument)
      }
      requireWhole('batch', batch, { min: 1, max: replaysMax }, InvalidArgument)
      if (signal !== undefined && typeof (signal as { aborted?: unknown } | null)?.aborted !== 'boolean') {
        throw new InvalidArgument(`signal must be an AbortSignal, not ${shown(signal)}`)
      }
      const until = signal === undefined ? {} : { signal }
      return replayAll(parts, { limit, batch, ...until, ...lanesOf(options) })
    },
    discard: async (id) => {
      requireId(id)
      const { results } = await ask('deadLetters.discard', store.deadLetters.discard({ ids: [id] }))
      const result = results[0]
      if (result?.kind === 'discarded') return
      if (result?.kind !== 'refused') throw new CommandRefused(`discard: there is no job ${id}`)
      const { state, replayedAs } = result
      const is = replayedAs === null ? seenTo(state) : `replayed as ${replayedAs}`
      throw new CommandRefused(`discard: job ${id} is ${is}, and only a dead letter can be discarded`)
    },
  }
}

/** Of a job that is no dead letter, whatever it once was. */
function seenTo(state: string): string {
  return state === 'failed' ? 'failed, but was discarded' : state
}
