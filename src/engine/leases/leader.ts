import { EngineStopping } from '../errors.ts'
import { textOf } from '../jobs/text.ts'
import { sleep } from '../ports/clock.ts'
import { type Exclusive, runExclusive } from './exclusive.ts'
import type { LeadersParts } from './leaders.ts'

/** What there is to lead. */
export interface Post {
  readonly key: string
  readonly ttlMs: number
  readonly work: (exclusive: Exclusive) => Promise<unknown>
}

/**
 * One process's striving for one post: it asks for the lease, does the work while it has it, and asks again half a
 * lease later, whether it was refused, the store did not answer, or the work is over. The lease itself is that of
 * exclusive work: a renewal that fails costs nothing until the lease ends, a loss is told at once.
 */
export interface Campaign {
  readonly leading: boolean
  /** Asks the work to end; resolves when it has, or `graceMs` later, and no call is in flight. Repeated calls are one. */
  stop(): Promise<void>
}

export function startCampaign(parts: LeadersParts, { key, ttlMs, work }: Post): Campaign {
  const { clock, emit, newOwner, graceMs } = parts
  /** Fires when the campaign is to end, and when the work is waited for no more. */
  const [stopping, givenUp] = [new AbortController(), new AbortController()]
  let leading = false
  let stopped: Promise<void> | null = null
  const done = run()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const owner = newOwner()
      const term = (exclusive: Exclusive): Promise<void> => lead(owner, exclusive)
      // Whether it was refused or the store did not answer: somebody else leads, or the next try may.
      await runExclusive(parts, { key, owner, ttlMs }, term, givenUp.signal).catch(() => null)
      await sleep(clock, ttlMs / 2, 'campaign', stopping.signal).catch(() => {})
    }
  }

  async function lead(owner: string, { signal }: Exclusive): Promise<void> {
    if (stopping.signal.aborted) return
    const over = new AbortController()
    const stop = (): void => over.abort(new EngineStopping(`${key} is led no more: the engine is stopping`))
    const lost = (): void => {
      leading = false
      emit({ type: 'leader.lost', key, owner })
      over.abort(signal.reason)
    }
    signal.addEventListener('abort', lost)
    stopping.signal.addEventListener('abort', stop)
    leading = true
    emit({ type: 'leader.elected', key, owner })
    try {
      await work({ signal: over.signal })
    } catch (error) {
      if (!over.signal.aborted) emit({ type: 'leader.failed', key, owner, message: textOf(error) })
    } finally {
      leading = false
      signal.removeEventListener('abort', lost)
      stopping.signal.removeEventListener('abort', stop)
    }
  }

  async function stop(): Promise<void> {
    stopping.abort(new Error('the campaign is over'))
    const ended = new AbortController()
    const bound = sleep(clock, graceMs, 'step-down', ended.signal).then(
      () => givenUp.abort(),
      () => {},
    )
    await done
    ended.abort()
    await bound
  }

  return {
    get leading() {
      return leading
    },
    stop: () => (stopped ??= stop()),
  }
}
