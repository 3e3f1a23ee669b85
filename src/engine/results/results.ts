import {
  InvalidArgument,
  JobCancelled,
  JobFailed,
  JobMissing,
  ResultTimeout,
  StoreUnavailable,
} from '../errors.ts'
import { optionsOf, requireWhole, shown } from '../given.ts'
import { durationMsMax } from '../jobs/figures.ts'
import type { Payloads } from '../jobs/payloads.ts'
import { requireId } from '../jobs/text.ts'
import type { Observers } from '../observers.ts'
import type { Clock, Timer } from '../ports/clock.ts'
import type { JobOutcome, Store } from '../ports/store.ts'
import type { StoreHealth } from '../store-health.ts'

export interface ResultOptions {
  /** For how long to wait, from 1 on; default: as long as it takes. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** Those in this process who wait for jobs to end: however many they are, the store is asked for all of them together. */
export interface Results {
  /** Rejects, and never throws; a rejection that nobody waits for yet does no harm (E31). */
  wait(id: string, options?: ResultOptions): Promise<unknown>
  /** Something was done to the job here: it may have ended. */
  readonly look: (id: string) => void
  readonly waiting: number
}

interface ResultParts {
  readonly store: Store
  readonly clock: Clock
  readonly payloads: Payloads
  readonly ask: StoreHealth['ask']
  readonly on: Observers['on']
}

interface Awaited {
  readonly waiters: Set<Waiter>
  /** Those whom the question in flight is asked for. Whoever came since may know more than its answer. */
  asked: ReadonlySet<Waiter>
  /** Infinite while it is being asked for. */
  dueAtMs: number
  /** Before it is asked for again, if it has not ended. */
  waitMs: number
}
interface Waiter {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

const none: ReadonlySet<Waiter> = new Set()
const waitMsMin = 50
const waitMsMax = 5_000
/** Of one question: a result may be a mebibyte. */
const idsMax = 100

export function createResults(parts: ResultParts): Results {
  const { store, clock, ask, on } = parts
  const awaited = new Map<string, Awaited>()
  /** Those that something was done to: they are asked for before those whose time has come. */
  const looked = new Set<string>()
  let timer: Timer | null = null
  let armedAtMs = Number.POSITIVE_INFINITY
  let asking = false
  let unheard = (): void => {}

  function add(id: string, waiter: Waiter): void {
    // Jobs that end in this process are not waited for by the clock.
    if (awaited.size === 0) unheard = on('attempt.confirmed', ({ job }) => look(job))
    const entry = awaited.get(id)
    const nowMs = clock.monotonicMs()
    if (entry) entry.waiters.add(waiter)
    else awaited.set(id, { waiters: new Set([waiter]), asked: none, dueAtMs: nowMs, waitMs: waitMsMin })
    armAt(entry?.dueAtMs ?? nowMs)
  }

  function remove(id: string, waiter: Waiter): void {
    const entry = awaited.get(id)
    if (!entry?.waiters.delete(waiter) || entry.waiters.size > 0) return
    awaited.delete(id)
    looked.delete(id)
    if (awaited.size > 0) return
    unheard()
    disarm()
  }

  function look(id: string): void {
    const entry = awaited.get(id)
    if (!entry) return
    entry.dueAtMs = clock.monotonicMs()
    looked.add(id)
    armAt(entry.dueAtMs)
  }

  function disarm(): void {
    timer?.cancel()
    timer = null
    armedAtMs = Number.POSITIVE_INFINITY
  }

  /** Not over all that are awaited: ten thousand waiters come one by one. */
  function armAt(dueAtMs: number): void {
    if (asking || dueAtMs >= armedAtMs) return
    disarm()
    armedAtMs = dueAtMs
    timer = clock.timer(Math.max(0, dueAtMs - clock.monotonicMs()), 'result', () => void askForDue())
  }

  function arm(): void {
    let dueAtMs = Number.POSITIVE_INFINITY
    for (const entry of awaited.values()) dueAtMs = Math.min(dueAtMs, entry.dueAtMs)
    armAt(dueAtMs)
  }

  /** What is due soon goes along with what is due. */
  function due(): string[] {
    const nowMs = clock.monotonicMs()
    const ids: string[] = []
    const take = (id: string, entry: Awaited): void => {
      entry.dueAtMs = Number.POSITIVE_INFINITY
      entry.asked = new Set(entry.waiters)
      looked.delete(id)
      ids.push(id)
    }
    for (const id of looked) {
      if (ids.length === idsMax) return ids
      take(id, awaited.get(id) as Awaited)
    }
    for (const [id, entry] of awaited) {
      if (ids.length === idsMax) return ids
      if (entry.dueAtMs - entry.waitMs / 4 <= nowMs) take(id, entry)
    }
    return ids
  }

  async function askForDue(): Promise<void> {
    disarm()
    asking = true
    const ids = due()
    try {
      const outcomes = await ask('jobs.outcomes', store.jobs.outcomes({ ids }))
      for (const [k, id] of ids.entries()) answered(id, outcomes[k] ?? null)
    } catch (error) {
      for (const id of ids) {
        if (error instanceof StoreUnavailable) again(id)
        else tell(id, ({ reject }) => reject(error))
      }
    }
    asking = false
    arm()
  }

  function again(id: string): void {
    const entry = awaited.get(id)
    if (!entry) return
    // Else somebody has looked since it was asked for.
    if (entry.dueAtMs === Number.POSITIVE_INFINITY) entry.dueAtMs = clock.monotonicMs() + entry.waitMs
    entry.waitMs = Math.min(2 * entry.waitMs, waitMsMax)
  }

  function tell(id: string, told: (waiter: Waiter) => void): void {
    const entry = awaited.get(id)
    for (const waiter of entry?.asked ?? []) told(waiter)
    if (!entry || entry.waiters.size === 0) return
    entry.waitMs = waitMsMin
    entry.dueAtMs = clock.monotonicMs()
  }

  function answered(id: string, outcome: JobOutcome | null): void {
    const end = endOf(parts.payloads, id, outcome)
    if (!end) return again(id)
    if ('error' in end) tell(id, ({ reject }) => reject(end.error))
    else tell(id, ({ resolve }) => resolve(end.value))
  }

  function wait(id: string, options: ResultOptions | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { timeoutMs, signal } = optionsOf(options, { timeoutMs: true, signal: true })
      requireId(id)
      if (timeoutMs !== undefined) {
        requireWhole('timeoutMs', timeoutMs, { min: 1, max: durationMsMax }, InvalidArgument)
      }
      if (signal !== undefined && !(signal instanceof AbortSignal)) {
        throw new InvalidArgument(`signal must be an AbortSignal, not ${shown(signal)}`)
      }
      if (signal?.aborted) return reject(signal.reason)
      let deadline: Timer | null = null
      const aborted = (): void => waiter.reject(signal?.reason)
      const over = (): void => {
        deadline?.cancel()
        signal?.removeEventListener('abort', aborted)
        remove(id, waiter)
      }
      const waiter: Waiter = {
        resolve: (value) => {
          over()
          resolve(value)
        },
        reject: (error) => {
          over()
          reject(error)
        },
      }
      signal?.addEventListener('abort', aborted, { once: true })
      if (timeoutMs !== undefined) {
        const message = `job ${id} had not ended after ${timeoutMs} ms; it goes on`
        deadline = clock.timer(timeoutMs, 'result-deadline', () => waiter.reject(new ResultTimeout(message)))
      }
      add(id, waiter)
    })
  }

  return {
    wait: (id, options) => {
      const result = wait(id, options)
      // Whoever awaits it is told all the same.
      result.catch(() => {})
      return result
    },
    look,
    get waiting() {
      return awaited.size
    },
  }
}

/** Null: it has not ended. */
function endOf(
  payloads: Payloads,
  id: string,
  outcome: JobOutcome | null,
): { readonly value: unknown } | { readonly error: unknown } | null {
  if (!outcome) return { error: new JobMissing(`there is no job ${id}`) }
  const { state, result, error } = outcome
  switch (state) {
    case 'succeeded':
      return { value: result === null ? undefined : payloads.value(`the result of job ${id}`, result) }
    case 'failed':
      return { error: new JobFailed(id, error ?? { code: 'UNKNOWN', message: 'nobody said why' }) }
    case 'cancelled':
      return { error: new JobCancelled(`job ${id} was cancelled`) }
    default:
      return null
  }
}
