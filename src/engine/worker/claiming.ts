import { StoreUnavailable } from '../errors.ts'
import type { ClaimParams, ClaimedJob } from '../ports/store.ts'
import type { RestState } from '../rest-state.ts'
import type { HeldClaim } from './held.ts'
import type { Leases } from './leases.ts'
import { claimAnswered } from './measures.ts'
import type { Pace } from './pace.ts'
import type { WorkerParts } from './parts.ts'
import type { Rest } from './rest.ts'
import type { Slots } from './slots.ts'
import type { Solo } from './solo.ts'

/** One claim, and the recovery by its token of one whose reply was lost. Both say how the loop goes on: `pace`. */
export interface Claiming {
  /** A claim that may have landed: until it is recovered, nothing else may be claimed. */
  readonly unknown: HeldClaim | null
  /** The one job that there was to claim was claimed. */
  readonly spent: boolean
  /** Asks for as much as is free, in batches. */
  claim(stance: ClaimParams['solo']): Promise<void>
  recover(held: HeldClaim): Promise<void>
  atRest(): RestState
}

export interface ClaimingParts extends WorkerParts {
  readonly leases: Leases
  readonly slots: Slots
  readonly pace: Pace
  readonly solo: Solo
  readonly rest: Rest
  /** Of all kinds that there are handlers for. */
  readonly kinds: readonly string[]
  readonly start: (claim: HeldClaim, job: ClaimedJob) => void
}

/**
 * A larger batch saves nothing, and its jobs would all wait for the last of them: while one is started, the store is
 * at work on the next.
 */
const claimMax = 500

export function createClaiming(parts: ClaimingParts): Claiming {
  const { clock, store, worker, only, intervals, leases, slots, pace, solo, rest, kinds, emit, ask } = parts
  const state = { claims: 0, unknown: null as HeldClaim | null, unknownInARow: 0, spent: false }

  async function claim(stance: ClaimParams['solo']): Promise<void> {
    const queues = slots.free()
    const free = queues.reduce((sum, queue) => sum + queue.limit, 0)
    const limit = Math.min(free, claimMax)
    const held = leases.hold(`${worker}.${++state.claims}`)
    try {
      const params = {
        token: held.token,
        worker,
        limit,
        queues,
        kinds,
        solo: stance,
        ...(only !== undefined && { only }),
      }
      const reply = await ask('claims.claim', store.claims.claim(params))
      if (reply.kind === 'void') return unknown(held)
      state.unknownInARow = 0
      claimAnswered(parts, held.sentAtMs, reply.jobs)
      take(held, reply.jobs)
      solo.met(stance, reply)
      const left = slots.free()
      rest.looked()
      pace.claimed({ queues, limit }, reply.jobs, left)
      // It may be idle already; and where all is taken, the next turn finds that there is nothing to ask.
      if (solo.draining || left.length === 0) pace.now()
    } catch (error) {
      if (!(error instanceof StoreUnavailable && error.sent === 'no')) return unknown(held)
      leases.answered(held)
      pace.backOff()
    }
  }

  async function recover(held: HeldClaim): Promise<void> {
    try {
      const sentAtMs = clock.monotonicMs()
      const reply = await ask('claims.recover', store.claims.recover({ token: held.token, worker }))
      state.unknown = null
      emit({ type: 'claim.known', token: held.token })
      if (reply.kind === 'recovered') held.sentAtMs = Math.max(held.sentAtMs, sentAtMs)
      take(held, reply.kind === 'recovered' ? reply.jobs : [])
      // A lost reply costs no time; a store that fails every claim is not asked in a circle.
      if (state.unknownInARow > 1) pace.backOff()
      else pace.now()
    } catch {
      pace.after(intervals.heartbeatRetryMs)
    }
  }

  function unknown(held: HeldClaim): void {
    state.unknown = held
    rest.looked()
    state.unknownInARow += 1
    pace.now()
    emit({ type: 'claim.unknown', token: held.token })
  }

  function take(held: HeldClaim, jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) parts.start(held, job)
    if (only !== undefined && jobs.length > 0) state.spent = true
    leases.answered(held)
    solo.took(jobs)
  }

  return {
    get unknown() {
      return state.unknown
    },
    get spent() {
      return state.spent
    },
    claim,
    recover,
    // How many claims it has made is in their tokens, which are but names. The unknown one is held without an attempt.
    atRest: () => ({ unknownInARow: Math.min(2, state.unknownInARow) }),
  }
}
