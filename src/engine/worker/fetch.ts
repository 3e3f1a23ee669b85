import type { ClaimedJob } from '../ports/store.ts'
import { createClaiming } from './claiming.ts'
import type { RestState } from '../rest-state.ts'
import type { HeldClaim } from './held.ts'
import type { Leases } from './leases.ts'
import { createPace } from './pace.ts'
import type { WorkerParts } from './parts.ts'
import { createRest } from './rest.ts'
import type { Slots } from './slots.ts'
import { createSolo } from './solo.ts'

/**
 * The fetch loop: claims at most what is free, at once again after a full batch, with backoff when idle.
 * A claim whose reply was lost is recovered by its token before anything else is claimed.
 */
export interface Fetcher {
  /** Something may be claimable: poll now. */
  readonly wake: () => void
  /** A slot became free: goes on if more is known to wait for it. */
  slotFreed(queue: string): void
  /** A lease was given up: goes on if the loop hopes for the last of them. */
  leaseFreed(): void
  /** Resolves when the loop has ended and no claim is in flight or unknown. */
  stop(): Promise<void>
  /** Gives up on a claim that is still unknown. */
  abandon(): void
  report(): { waitMs: number; unknownClaim: boolean; draining: boolean }
  atRest(): RestState
}

export interface FetchParts extends WorkerParts {
  readonly leases: Leases
  readonly slots: Slots
  readonly start: (claim: HeldClaim, job: ClaimedJob) => void
}

const claimsInARowMax = 16

export function createFetcher(parts: FetchParts): Fetcher {
  const { clock, intervals, leases, slots } = parts
  const pace = createPace(intervals)
  const solo = createSolo(clock, leases)
  const rest = createRest(clock)
  const kinds = [...parts.handlers.keys()].sort()
  const claiming = createClaiming({ ...parts, pace, solo, rest, kinds })
  /** What the loop remembers between two turns. */
  const state = {
    /** Since the loop last gave way to timers. */
    claimsInARow: 0,
    stopping: false,
    abandoned: false,
  }
  const done = run()

  async function run(): Promise<void> {
    while (goesOn()) {
      rest.begun()
      if (claiming.unknown) await claiming.recover(claiming.unknown)
      else await claimIfAllowed()
      if (pace.waitMs > 0 && goesOn() && (await rest.take(pace.waitMs))) state.claimsInARow = 0
      if (state.claimsInARow >= claimsInARowMax && goesOn()) await giveWay()
    }
  }

  function goesOn(): boolean {
    return !state.stopping || (claiming.unknown !== null && !state.abandoned)
  }

  /** A store that answers at once would else keep timers waiting until its queue is empty: heartbeats, timeouts. */
  async function giveWay(): Promise<void> {
    state.claimsInARow = 0
    await new Promise<void>((resolve) => void clock.timer(0, 'give-way', resolve))
  }

  async function claimIfAllowed(): Promise<void> {
    rest.looked()
    leases.lookAtDeadlines()
    if (claiming.spent) return pace.after(Number.POSITIVE_INFINITY)
    const stance = solo.stance()
    if (stance !== null && leases.uncertain === 0 && slots.free().length > 0 && kinds.length > 0) {
      state.claimsInARow += 1
      return claiming.claim(stance)
    }
    const certainMs = leases.uncertain > 0 ? intervals.heartbeatRetryMs : Number.POSITIVE_INFINITY
    pace.after(Math.min(certainMs, solo.waitMs))
  }

  return {
    wake: () => {
      pace.reset()
      rest.wake()
    },
    slotFreed: (queue) => {
      if (!claiming.unknown && pace.waitsFor(queue)) rest.freed()
    },
    leaseFreed: () => {
      if (leases.attempts === 0 && solo.wantsIdle) rest.freed()
    },
    stop: () => {
      state.stopping = true
      rest.wake()
      return done
    },
    abandon: () => {
      state.abandoned = true
      rest.wake()
    },
    report: () => ({
      waitMs: pace.waitMs,
      unknownClaim: claiming.unknown !== null,
      draining: solo.draining,
    }),
    atRest: () => {
      if (state.stopping || !rest.resting) return null
      const { claimsInARow } = state
      return { claimsInARow, pace: pace.atRest(), solo: solo.atRest(), claiming: claiming.atRest() }
    },
  }
}
