import type { Timer } from '../ports/clock.ts'
import type { Intervals } from '../settings.ts'
import type { RestState } from '../rest-state.ts'
import { type ReconcilerParts, createReconciler, turnsPeriod } from './reconcile.ts'

/**
 * Takes a turn of recovery on one fixed timer, whatever an earlier turn still does. A turn that fails is
 * simply over; the next one does its work.
 */
export interface Sweeper {
  /** Resolves when no call is in flight. */
  stop(): Promise<void>
  report(): { turns: number; failures: number; sweeping: boolean }
  atRest(): RestState
}

export interface SweeperParts extends ReconcilerParts {
  readonly intervals: Intervals
  /** Called when a turn comes so late that leases may have lapsed meanwhile: this process stood still. */
  readonly onLate: () => void
}

export function createSweeper(parts: SweeperParts): Sweeper {
  const { clock, intervals, measure, onLate } = parts
  const reconciler = createReconciler(parts)
  const inFlight = new Set<Promise<void>>()
  const state = { turns: 0, failures: 0 }
  let dueMs = clock.monotonicMs()
  let timer: Timer = clock.timer(0, 'sweep', turn)

  function turn(): void {
    const lagMs = Math.max(0, clock.monotonicMs() - dueMs)
    measure?.({ name: 'loop.lag', lagMs })
    if (lagMs > intervals.replyMs) onLate()
    dueMs = clock.monotonicMs() + intervals.sweepMs
    timer = clock.timer(intervals.sweepMs, 'sweep', turn)
    state.turns += 1
    const done = reconciler
      .turn(state.turns)
      .catch(() => void (state.failures += 1))
      .finally(() => inFlight.delete(done))
    inFlight.add(done)
  }

  return {
    stop: async () => {
      reconciler.stop()
      timer.cancel()
      await Promise.all(inFlight)
    },
    report: () => ({ ...state, sweeping: reconciler.sweeping }),
    atRest: () =>
      inFlight.size > 0 ? null : { turn: state.turns % turnsPeriod, dueAtMs: dueMs, heard: reconciler.heard },
  }
}
