import type { Timer } from '../ports/clock.ts'
import type { Intervals } from '../settings.ts'
import { type ReconcilerParts, createReconciler } from './reconcile.ts'

/**
 * Takes a turn of recovery on one fixed timer, whatever an earlier turn still does. A turn that fails is
 * simply over; the next one does its work.
 */
export interface Sweeper {
  /** Resolves when no call is in flight. */
  stop(): Promise<void>
  report(): { turns: number; failures: number; sweeping: boolean }
}

/** Timeouts are a backstop, and spent claim rows only take space: every sixth turn is soon enough. */
const everythingTurns = 6

export function createSweeper(parts: ReconcilerParts & { readonly intervals: Intervals }): Sweeper {
  const { clock, intervals } = parts
  const reconciler = createReconciler(parts)
  const inFlight = new Set<Promise<void>>()
  const state = { turns: 0, failures: 0 }
  let timer: Timer = clock.timer(0, 'sweep', turn)

  function turn(): void {
    timer = clock.timer(intervals.sweepMs, 'sweep', turn)
    state.turns += 1
    const done = reconciler
      .turn(state.turns % everythingTurns === 0)
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
  }
}
