import { InvalidArgument, JobMissing, StoreUnavailable } from '../errors.ts'
import { optionsOf, requireWhole } from '../given.ts'
import { isTerminal } from '../jobs/record.ts'
import { requireId } from '../jobs/text.ts'
import { type Clock, sleep } from '../ports/clock.ts'
import type { LogLine, LogPage } from '../ports/logs.ts'
import type { Store } from '../ports/store.ts'
import type { StoreHealth } from '../store-health.ts'

/** What jobs have said, through any engine on the store. */
export interface Logs {
  /** The last lines of a job, the oldest of them first: up to `limit` of them, 1 to 1,000, default 100. */
  tail(id: string, options?: { readonly limit?: number }): Promise<LogPage>
  /**
   * Up to `limit` lines (as `tail`) from the sequence `from` on; default 0. What was dropped already is passed over. Go
   * on from the `n` of the last line, and one.
   */
  page(id: string, options?: { readonly from?: number; readonly limit?: number }): Promise<LogPage>
  /**
   * The lines from `from` (default 0) on, and those to come, until the job has ended and all was read. A job that says
   * nothing is asked less and less often, every 5 s at last; an outage is waited for. Lines that are dropped before they
   * are read show as a gap in `n`. Throws `JobMissing`, and the signal's reason.
   */
  follow(
    id: string,
    options?: { readonly from?: number; readonly signal?: AbortSignal },
  ): AsyncGenerator<LogLine, void, undefined>
}

interface ReaderParts {
  readonly store: Store
  readonly clock: Clock
  readonly ask: StoreHealth['ask']
}

const pageLimit = 500
const waitMsMin = 250
const waitMsMax = 5_000

export function createLogs({ store, clock, ask }: ReaderParts): Logs {
  async function* follow(
    id: string,
    from: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LogLine, void, undefined> {
    let at = from
    let known = false
    let waitMs = waitMsMin
    for (;;) {
      signal?.throwIfAborted()
      const page = await read(id, at)
      if (page?.state === null) {
        if (known) return
        throw new JobMissing(`there is no job ${id}`)
      }
      known ||= page !== null
      for (const line of page?.lines ?? []) {
        yield line
        at = line.n + 1
        waitMs = waitMsMin
      }
      if (page && page.lines.length === pageLimit) continue
      // What runs no more says no more: nothing came after this page.
      if (page && isTerminal(page.state)) return
      await sleep(clock, waitMs, 'log-follow', signal)
      waitMs = Math.min(2 * waitMs, waitMsMax)
    }
  }

  /** Null: the store did not answer. */
  async function read(id: string, from: number): Promise<LogPage | null> {
    try {
      return await ask('logs.page', store.logs.page({ id, from, limit: pageLimit }))
    } catch (error) {
      if (error instanceof StoreUnavailable) return null
      throw error
    }
  }

  return {
    tail: async (id, rest) => {
      const { limit } = optionsOf(rest, { limit: true })
      requireId(id)
      return ask('logs.tail', store.logs.tail({ id, limit: limitOf(limit) }))
    },
    page: async (id, rest) => {
      const { from, limit } = optionsOf(rest, { from: true, limit: true })
      requireId(id)
      return ask('logs.page', store.logs.page({ id, from: startOf(from), limit: limitOf(limit) }))
    },
    follow: (id, rest) => {
      const { from, signal } = optionsOf(rest, { from: true, signal: true })
      requireId(id)
      return follow(id, startOf(from), signal)
    },
  }
}

function limitOf(limit = 100): number {
  return requireWhole('limit', limit, { min: 1, max: 1_000 }, InvalidArgument)
}

function startOf(from = 0): number {
  return requireWhole('from', from, { min: 0, max: Number.MAX_SAFE_INTEGER }, InvalidArgument)
}
