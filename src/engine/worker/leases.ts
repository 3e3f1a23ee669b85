import type { RenewReply } from '../ports/store.ts'
import { heartbeatMsFor } from '../settings.ts'
import { createAlarm } from './alarm.ts'
import type { Attempt } from './attempt.ts'
import { type HeldClaim, createHeld } from './held.ts'
import { marginLeft } from './measures.ts'
import type { WorkerParts } from './parts.ts'
import { createStallNotice } from './stall.ts'

/**
 * The heartbeat pump: renews all claims of this process in one statement, and knows until when each lease
 * can be vouched for. It decides nothing about expiry; that is the store's.
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
}

/** `freed` is called whenever an attempt needs its lease no more. */
export function createLeases(parts: WorkerParts, freed: () => void): Leases {
  const { clock, intervals, store, worker, ask } = parts
  const held = createHeld()
  const state = { failuresInARow: 0, stopped: false }
  const stall = createStallNotice(parts, held)
  const deadline = createAlarm(clock, 'lease-deadline', watchDeadlines)
  const heartbeat = createAlarm(clock, 'heartbeat', (lateMs) => {
    // Before a renewal is sent nothing may be called certain that was overslept.
    deadline.look()
    stall.late(lateMs)
    stall.beaten()
    if (held.claims.size > 0) beating = beat()
  })
  let beating: Promise<void> | null = null

  function beatBy(atMs: number): void {
    if (!state.stopped && !beating) heartbeat.by(atMs)
  }

  async function beat(): Promise<void> {
    const sentAtMs = clock.monotonicMs()
    const named = [...held.claims.values()]
    // As of the sending: of an attempt that comes later the answer says nothing.
    const attempts = named.flatMap((claim) => [...claim.attempts])
    const tokens = named.map(({ token }) => token)
    try {
      const reply = await ask('claims.renew', store.claims.renew({ worker, tokens }))
      state.failuresInARow = 0
      marginLeft(parts, attempts)
      for (const claim of named) claim.sentAtMs = Math.max(claim.sentAtMs, sentAtMs)
      sortOut(attempts, reply.held)
    } catch {
      state.failuresInARow += 1
    }
    beating = null
    watchDeadlines()
    const { failuresInARow } = state
    beatBy(failuresInARow === 0 ? sentAtMs + beatMs() : clock.monotonicMs() + intervals.heartbeatRetryMs)
  }

  /** Tells each attempt what the renewal said of it; an attempt whose settle was sent does not listen. */
  function sortOut(attempts: readonly Attempt[], still: RenewReply['held']): void {
    const epochs = new Map(still.map(({ id, epoch }) => [id, epoch]))
    const cancelled = new Set(still.filter(({ cancel }) => cancel).map(({ id }) => id))
    for (const attempt of attempts) {
      const { spec, epoch } = attempt.job
      if (attempt.settleSent) continue
      if (epochs.get(spec.id) !== epoch) {
        attempt.lost()
      } else if (certain(attempt.claim, spec.leaseTtlMs)) {
        // Else the answer came so late that the lease may have lapsed again meanwhile.
        attempt.renewed()
        held.note(attempt)
        if (cancelled.has(spec.id)) attempt.cancel()
      }
    }
  }

  function beatMs(): number {
    return heartbeatMsFor(intervals, held.shortestTtlMs)
  }

  function certain(claim: HeldClaim, leaseTtlMs: number): boolean {
    return clock.monotonicMs() < claim.sentAtMs + leaseTtlMs
  }

  function watchDeadlines(): void {
    const nowMs = clock.monotonicMs()
    let nextMs = Number.POSITIVE_INFINITY
    for (const claim of held.claims.values()) {
      for (const attempt of claim.attempts) {
        const endsMs = claim.sentAtMs + attempt.job.spec.leaseTtlMs
        if (endsMs > nowMs) {
          nextMs = Math.min(nextMs, endsMs)
        } else {
          attempt.becameUncertain()
          held.note(attempt)
        }
      }
    }
    if (!state.stopped) deadline.by(nextMs)
  }

  return {
    hold: (token) => {
      const claim = held.open(token, clock.monotonicMs())
      beatBy(claim.sentAtMs + beatMs())
      return claim
    },
    add: (claim, attempt) => {
      held.add(claim, attempt)
      if (attempt.certain && !state.stopped) deadline.by(claim.sentAtMs + attempt.job.spec.leaseTtlMs)
    },
    answered: (claim) => {
      held.answered(claim)
      beatBy(claim.sentAtMs + beatMs())
    },
    drop: (claim, attempt) => {
      // What blocked the loop may be over, and settled, before the heartbeat has its turn.
      stall.late(heartbeat.lateMs)
      if (held.remove(claim, attempt)) freed()
    },
    certain,
    lookAtDeadlines: () => deadline.look(),
    woke: () => {
      deadline.look()
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
    stop: async () => {
      state.stopped = true
      heartbeat.cancel()
      deadline.cancel()
      await beating
    },
    report: () => ({
      claims: held.claims.size,
      failuresInARow: state.failuresInARow,
      uncertain: held.uncertain,
    }),
  }
}
