import type { JobEpoch } from '../ports/store.ts'
import type { Timer } from '../ports/clock.ts'
import { heartbeatMsFor } from '../settings.ts'
import type { Attempt } from './attempt.ts'
import type { WorkerParts } from './parts.ts'

/** A claim from the moment it is sent until every settle under its token is confirmed. */
export interface HeldClaim {
  readonly token: string
  /** Monotonic time of sending the claim, or the last renewal that succeeded: what its leases count from. */
  sentAtMs: number
  /** The claim's reply (or its recovery) is in. */
  answered: boolean
  readonly attempts: Set<Attempt>
}

/**
 * The heartbeat pump: renews all claims of this process in one statement, and knows until when each lease
 * can be vouched for. It decides nothing about expiry; that is the store's.
 */
export interface Leases {
  /** Called at the sending of a claim. */
  hold(token: string): HeldClaim
  /** Called when the claim's jobs are known. */
  answered(claim: HeldClaim): void
  /** Called when an attempt needs its lease no more: its settle is confirmed, or it was lost. */
  drop(claim: HeldClaim, attempt: Attempt): void
  certain(claim: HeldClaim, leaseTtlMs: number): boolean
  /** Whether some attempt could not be vouched for: then nothing may be claimed. */
  uncertain(): boolean
  stop(): void
  report(): { claims: number; failuresInARow: number; uncertain: number }
}

export function createLeases(parts: WorkerParts): Leases {
  const { clock, intervals, store, worker, ask } = parts
  const claims = new Map<string, HeldClaim>()
  const state = { beating: false, failuresInARow: 0, beatAtMs: Number.POSITIVE_INFINITY, stopped: false }
  let beatTimer: Timer | null = null
  let deadlineTimer: Timer | null = null
  let deadlineMs = Number.POSITIVE_INFINITY

  function beatBy(atMs: number): void {
    if (state.stopped || state.beating || atMs >= state.beatAtMs) return
    beatTimer?.cancel()
    state.beatAtMs = atMs
    beatTimer = clock.timer(Math.max(0, atMs - clock.monotonicMs()), 'heartbeat', () => void beat())
  }

  async function beat(): Promise<void> {
    state.beatAtMs = Number.POSITIVE_INFINITY
    if (state.stopped || claims.size === 0) return
    state.beating = true
    const sentAtMs = clock.monotonicMs()
    const named = [...claims.values()]
    const attempts = named.flatMap((claim) => [...claim.attempts])
    let nextMs = sentAtMs + beatMs()
    try {
      const reply = await ask(
        'claims.renew',
        store.claims.renew({ worker, tokens: named.map(({ token }) => token) }),
      )
      state.failuresInARow = 0
      for (const claim of named) claim.sentAtMs = sentAtMs
      sortOut(attempts, reply.held)
    } catch {
      state.failuresInARow += 1
      nextMs = clock.monotonicMs() + intervals.heartbeatRetryMs
    }
    state.beating = false
    watchDeadlines()
    beatBy(nextMs)
  }

  function beatMs(): number {
    let ttlMs = Number.POSITIVE_INFINITY
    for (const { attempts } of claims.values()) {
      for (const { job } of attempts) ttlMs = Math.min(ttlMs, job.spec.leaseTtlMs)
    }
    return heartbeatMsFor(intervals, ttlMs)
  }

  function watchDeadlines(): void {
    const nowMs = clock.monotonicMs()
    let nextMs = Number.POSITIVE_INFINITY
    for (const claim of claims.values()) {
      for (const attempt of claim.attempts) {
        const endsMs = claim.sentAtMs + attempt.job.spec.leaseTtlMs
        if (endsMs > nowMs) nextMs = Math.min(nextMs, endsMs)
        else attempt.becameUncertain()
      }
    }
    if (nextMs >= deadlineMs || state.stopped) return
    deadlineTimer?.cancel()
    deadlineMs = nextMs
    deadlineTimer = clock.timer(nextMs - nowMs, 'lease-deadline', () => {
      deadlineMs = Number.POSITIVE_INFINITY
      watchDeadlines()
    })
  }

  return {
    hold: (token) => {
      const claim = { token, sentAtMs: clock.monotonicMs(), answered: false, attempts: new Set<Attempt>() }
      claims.set(token, claim)
      beatBy(claim.sentAtMs + beatMs())
      return claim
    },
    answered: (claim) => {
      claim.answered = true
      if (claim.attempts.size === 0) claims.delete(claim.token)
      watchDeadlines()
      beatBy(claim.sentAtMs + beatMs())
    },
    drop: (claim, attempt) => {
      claim.attempts.delete(attempt)
      if (claim.answered && claim.attempts.size === 0) claims.delete(claim.token)
    },
    certain: (claim, leaseTtlMs) => clock.monotonicMs() < claim.sentAtMs + leaseTtlMs,
    uncertain: () => countUncertain(claims) > 0,
    stop: () => {
      state.stopped = true
      beatTimer?.cancel()
      deadlineTimer?.cancel()
    },
    report: () => ({
      claims: claims.size,
      failuresInARow: state.failuresInARow,
      uncertain: countUncertain(claims),
    }),
  }
}

/** Tells each attempt what the renewal said of it; an attempt whose settle was sent does not listen. */
function sortOut(attempts: readonly Attempt[], held: readonly JobEpoch[]): void {
  const epochs = new Map(held.map(({ id, epoch }) => [id, epoch]))
  for (const attempt of attempts) {
    if (attempt.settleSent) continue
    if (epochs.get(attempt.job.spec.id) === attempt.job.epoch) attempt.renewed()
    else attempt.lost()
  }
}

function countUncertain(claims: ReadonlyMap<string, HeldClaim>): number {
  let count = 0
  for (const { attempts } of claims.values()) for (const attempt of attempts) if (!attempt.certain) count += 1
  return count
}
