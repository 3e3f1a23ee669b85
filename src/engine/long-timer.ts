import { InvalidArgument } from './errors.ts'
import type { Timer } from './ports/clock.ts'

/** The longest that Node waits: a timer beyond it fires after 1 ms, with a warning (nodejs/node#4541). */
export const oneShotMsMax: number = 2 ** 31 - 1

/** The timers that a machine has: each fires once, and none can wait for longer than `oneShotMsMax`. */
export interface OneShots {
  monotonicMs(): number
  /** `delayMs` is a whole number >= 0. */
  after(delayMs: number, label: string, fire: () => void): Timer
}

/** A timer of any length over timers that have a longest. Throws `InvalidArgument` for NaN. */
export function longTimer(shots: OneShots, delayMs: number, label: string, fire: () => void): Timer {
  if (Number.isNaN(delayMs)) throw new InvalidArgument('a timer must have a delay in ms, not NaN')
  // Apart, because its closures would else be paid for by every short one.
  return delayMs > oneShotMsMax
    ? splitTimer(shots, delayMs, label, fire)
    : shots.after(Math.max(0, Math.ceil(delayMs)), label, fire)
}

function splitTimer(shots: OneShots, delayMs: number, label: string, fire: () => void): Timer {
  const dueMs = shots.monotonicMs() + delayMs
  const arm = (): Timer => {
    const leftMs = dueMs - shots.monotonicMs()
    return leftMs > oneShotMsMax
      ? shots.after(oneShotMsMax, label, () => (timer = arm()))
      : shots.after(Math.max(0, Math.ceil(leftMs)), label, fire)
  }
  let timer = arm()
  return { cancel: () => timer.cancel() }
}
