import { isLastEviction } from '../jobs/record.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClaimParams, ClaimedJob } from '../ports/store.ts'
import type { RestState } from '../rest-state.ts'
import type { Leases } from './leases.ts'

/**
 * How this process treats jobs on their last eviction, which run alone (decision 0003). While one waits, it
 * claims nothing until it is idle; where that was in vain it passes over such jobs for ten times as long, and
 * then waits for twice as long as before. So the waiting costs a tenth of the time, however long the other
 * jobs are, and one day it is longer than they are.
 */
export interface Solo {
  /** What a claim would say now; null while nothing may be claimed. */
  stance(): ClaimParams['solo'] | null
  /** How long nothing may be claimed; infinite: until the process is idle. */
  readonly waitMs: number
  /** Nothing may be claimed until the process is idle, or has waited for it in vain. */
  readonly draining: boolean
  /** A claim is worth making as soon as the process is idle. */
  readonly wantsIdle: boolean
  /** What a claim or a recovery brought. */
  took(jobs: readonly ClaimedJob[]): void
  /** What a claim with this stance met. */
  met(
    stance: ClaimParams['solo'],
    reply: { readonly soloWaiting: boolean; readonly jobs: readonly unknown[] },
  ): void
  atRest(): RestState
}

const passTimes = 10
/** Where no lease says how patient to be. */
const patienceMsDefault = 30_000

export function createSolo(clock: Clock, leases: Leases): Solo {
  /** `alone`: such a job runs here. `awaiting`: one waits for this process to be idle. */
  const state = {
    alone: false,
    awaiting: null as { readonly untilMs: number; readonly forMs: number } | null,
    passUntilMs: Number.NEGATIVE_INFINITY,
    /** How long the next wait is; null: as long as the shortest lease held. */
    patienceMs: null as number | null,
  }

  function becameIdle(): void {
    state.alone = false
    state.awaiting = null
    state.patienceMs = null
    state.passUntilMs = Number.NEGATIVE_INFINITY
  }

  function gaveUp(forMs: number): void {
    state.awaiting = null
    state.patienceMs = 2 * forMs
    state.passUntilMs = clock.monotonicMs() + passTimes * forMs
  }

  return {
    stance: () => {
      if (leases.attempts === 0) {
        becameIdle()
        return 'take'
      }
      if (state.alone) return null
      if (state.awaiting) {
        if (clock.monotonicMs() < state.awaiting.untilMs) return null
        gaveUp(state.awaiting.forMs)
      }
      return clock.monotonicMs() < state.passUntilMs ? 'pass' : 'await'
    },
    get waitMs() {
      if (state.alone || !state.awaiting) return Number.POSITIVE_INFINITY
      return Math.max(0, state.awaiting.untilMs - clock.monotonicMs())
    },
    get draining() {
      return state.alone || state.awaiting !== null
    },
    get wantsIdle() {
      return state.alone || state.awaiting !== null || clock.monotonicMs() < state.passUntilMs
    },
    took: (jobs) => {
      if (jobs.some(isLastEviction)) state.alone = true
    },
    met: (stance, { soloWaiting, jobs }) => {
      if (!soloWaiting) {
        // Where nothing at all is due, none is waiting.
        if (stance === 'await' && jobs.length === 0) state.patienceMs = null
        return
      }
      const { shortestTtlMs } = leases
      const forMs = state.patienceMs ?? (Number.isFinite(shortestTtlMs) ? shortestTtlMs : patienceMsDefault)
      state.awaiting = { untilMs: clock.monotonicMs() + forMs, forMs }
    },
    atRest: () => {
      const { alone, awaiting, patienceMs, passUntilMs: passUntilAtMs } = state
      const until = awaiting && { untilAtMs: awaiting.untilMs, forMs: awaiting.forMs }
      return { alone, awaiting: until, patienceMs, passUntilAtMs }
    },
  }
}
