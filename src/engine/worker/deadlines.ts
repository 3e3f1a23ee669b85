import type { Clock } from '../ports/clock.ts'
import { createAlarm } from './alarm.ts'
import type { Attempt } from './attempt.ts'
import type { Held, HeldClaim } from './held.ts'

/** Until when the leases of this process can be vouched for, and the watch that tells an attempt when that is over. */
export interface Deadlines {
  readonly certain: (claim: HeldClaim, leaseTtlMs: number) => boolean
  /** Called for each attempt that there is now to watch. */
  watch(claim: HeldClaim, attempt: Attempt): void
  /** Tells every attempt whose deadline has passed, and waits for the next. */
  watchAll(): void
  /** Notices a deadline that has passed, though its timer had no turn yet. */
  readonly look: () => void
  stop(): void
}

export function createDeadlines(clock: Clock, held: Held): Deadlines {
  const alarm = createAlarm(clock, 'lease-deadline', watchAll)
  let stopped = false

  function watchAll(): void {
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
    if (!stopped) alarm.by(nextMs)
  }

  return {
    certain: (claim, leaseTtlMs) => clock.monotonicMs() < claim.sentAtMs + leaseTtlMs,
    watch: (claim, attempt) => {
      if (attempt.certain() && !stopped) alarm.by(claim.sentAtMs + attempt.job.spec.leaseTtlMs)
    },
    watchAll,
    look: () => alarm.look(),
    stop: () => {
      stopped = true
      alarm.cancel()
    },
  }
}
