import { AttemptTimeout, JobCancelled } from '../errors.ts'
import type { Outcome } from '../jobs/record.ts'
import type { ClaimedJob } from '../ports/store.ts'
import type { Random } from '../ports/random.ts'
import { type LazySignal, createLazySignal } from './lazy-signal.ts'
import { failureOf } from './outcome.ts'

/** What an attempt was asked to end for. Its handler is told the first; all of them say what the attempt amounts to. */
export interface Reasons {
  readonly signal: LazySignal
  any(): boolean
  timeout(): AttemptTimeout | null
  readonly add: (reason: Error) => void
  /**
   * What `outcome` amounts to. A timeout is one whatever the handler returned, and goes before a release, which
   * goes before a cancel, in whatever order they came.
   */
  overrule(outcome: Outcome): Outcome
}

export function createReasons(job: ClaimedJob, random: Random): Reasons {
  const signal = createLazySignal()
  const reasons: Error[] = []
  return {
    signal,
    any: () => reasons.length > 0,
    timeout: () => reasons.find((reason) => reason instanceof AttemptTimeout) ?? null,
    add: (reason) => {
      reasons.push(reason)
      signal.abort(reason)
    },
    overrule: (outcome) => {
      const timeout = reasons.find((reason) => reason instanceof AttemptTimeout)
      if (timeout) return failureOf(timeout, job, random)
      if (outcome.kind !== 'failed' || reasons.length === 0) return outcome
      const cancelledOnly = reasons.every((reason) => reason instanceof JobCancelled)
      return cancelledOnly ? { kind: 'cancelled' } : { kind: 'released', delayMs: 0 }
    },
  }
}
