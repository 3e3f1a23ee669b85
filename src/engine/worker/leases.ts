import type { Attempt } from './attempt.ts'
import { createDeadlines } from './deadlines.ts'
import type { RestState } from '../rest-state.ts'
import { createHeartbeat } from './heartbeat.ts'
import { type HeldClaim, createHeld } from './held.ts'
import type { WorkerParts } from './parts.ts'

/**
 * The leases of this process: the heartbeat renews them, the deadlines say until when each can be vouched for.
 * Nothing here decides about expiry; that is the store's.
 */
export interface Leases {
  /** Called at the sending of a claim. */
  hold(token: string): HeldClaim
  /** Called for each job that the claim brought. */
  add(claim: HeldClaim, attempt: Attempt): void
  /** Called when the claim's jobs are known. */
  answered(claim: HeldClaim): void
  /** Called when an attempt needs its lease no more: its settle is confirmed, or it was lost. */
  drop(claim: HeldClaim, attempt: Attempt): void
  certain(claim: HeldClaim, leaseTtlMs: number): boolean
  /** Notices a lease that can no longer be vouched for, though its timer had no turn yet. */
  lookAtDeadlines(): void
  /** Called when this process had stood still: looks what can still be vouched for, and then renews what is overdue. */
  readonly woke: () => void
  /** Attempts that have a lease. */
  readonly attempts: number
  /** Attempts that cannot be vouched for: while there are any, nothing may be claimed. */
  readonly uncertain: number
  /** Of the leases held; infinite when there are none. */
  readonly shortestTtlMs: number
  /** Resolves when no renewal is in flight. */
  stop(): Promise<void>
  report(): { claims: number; failuresInARow: number; uncertain: number }
  atRest(): RestState
}

/** `freed` is called whenever an attempt needs its lease no more. */
export function createLeases(parts: WorkerParts, freed: () => void): Leases {
  const held = createHeld()
  const deadlines = createDeadlines(parts.clock, held)
  const heartbeat = createHeartbeat(parts, held, deadlines)
  return {
    hold: (token) => {
      const claim = held.open(token, parts.clock.monotonicMs())
      heartbeat.due(claim)
      return claim
    },
    add: (claim, attempt) => {
      held.add(claim, attempt)
      deadlines.watch(claim, attempt)
    },
    answered: (claim) => {
      held.answered(claim)
      heartbeat.due(claim)
    },
    drop: (claim, attempt) => {
      heartbeat.noticeStall()
      if (held.remove(claim, attempt)) freed()
    },
    certain: deadlines.certain,
    lookAtDeadlines: deadlines.look,
    woke: () => {
      deadlines.look()
      heartbeat.look()
    },
    get attempts() {
      return held.attempts
    },
    get uncertain() {
      return held.uncertain
    },
    get shortestTtlMs() {
      return held.shortestTtlMs
    },
    stop: () => {
      deadlines.stop()
      return heartbeat.stop()
    },
    report: () => ({
      claims: held.claims.size,
      failuresInARow: heartbeat.failuresInARow,
      uncertain: held.uncertain,
    }),
    atRest: () => {
      const beat = heartbeat.atRest()
      const claims = [...held.claims.values()].map(claimAtRest)
      return beat && { beat, claims }
    },
  }
}

/** It is answered if it has attempts: it would not be held any more without. */
function claimAtRest({ token, sentAtMs, attempts }: HeldClaim): RestState {
  return { token, sentAtMs, attempts: [...attempts].map((attempt) => attempt.atRest()) }
}
