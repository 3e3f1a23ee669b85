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
  const state = {
    /** Such a job runs here. */
    alone: false,
    /** Until when one that waits for this process to be idle is waited for. */
    awaitingUntilMs: null as number | null,
    passUntilMs: Number.NEGATIVE_INFINITY,
    /** How long this wait is, or the next one; null: as long as the shortest lease held. */
    patienceMs: null as number | null,
  }

  function becameIdle(): void {
    state.alone = false
    state.awaitingUntilMs = null
    state.patienceMs = null
    state.passUntilMs = Number.NEGATIVE_INFINITY
  }

  function gaveUp(): void {
    const forMs = patienceMs()
    state.awaitingUntilMs = null
    state.patienceMs = 2 * forMs
    state.passUntilMs = clock.monotonicMs() + passTimes * forMs
  }

  function patienceMs(): number {
    const { shortestTtlMs } = leases
    return state.patienceMs ?? (Number.isFinite(shortestTtlMs) ? shortestTtlMs : patienceMsDefault)
  }

  return {
    stance: () => {
      if (leases.attempts === 0) {
        becameIdle()
        return 'take'
      }
      if (state.alone) return null
      if (state.awaitingUntilMs !== null) {
        if (clock.monotonicMs() < state.awaitingUntilMs) return null
        gaveUp()
      }
      return clock.monotonicMs() < state.passUntilMs ? 'pass' : 'await'
    },
    get waitMs() {
      if (state.alone || state.awaitingUntilMs === null) return Number.POSITIVE_INFINITY
      return Math.max(0, state.awaitingUntilMs - clock.monotonicMs())
    },
    get draining() {
      return state.alone || state.awaitingUntilMs !== null
    },
    get wantsIdle() {
      return state.alone || state.awaitingUntilMs !== null || clock.monotonicMs() < state.passUntilMs
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
      state.patienceMs = patienceMs()
      state.awaitingUntilMs = clock.monotonicMs() + state.patienceMs
    },
    atRest: () => {
      const { awaitingUntilMs: awaitingUntilAtMs, patienceMs, passUntilMs } = state
      const passUntilAtMs = clock.monotonicMs() < passUntilMs ? passUntilMs : null
      // Whether it is alone its attempt says.
      return { awaitingUntilAtMs, patienceMs, passUntilAtMs }
    },
  }
}
