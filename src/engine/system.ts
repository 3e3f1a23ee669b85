import { randomUUID } from 'node:crypto'
import { hostname, uptime } from 'node:os'
import { createElapsed } from './elapsed.ts'
import { InvalidArgument } from './errors.ts'
import type { Clock, Timer } from './ports/clock.ts'
import type { Random } from './ports/random.ts'

/** The only file that touches the machine's clocks, timers and chance. */

/** Node fires a timer beyond this at once, with a warning (nodejs/node#4541). */
const timerMsMax = 2 ** 31 - 1

export const systemClock: Clock = {
  monotonicMs: createElapsed(
    () => performance.now(),
    () => uptime() * 1_000,
  ),
  wallMs: () => Date.now(),
  timer: (delayMs, _label, fire) => armTimer(delayMs, fire),
}

export const systemRandom: Random = {
  id: () => randomUUID(),
  unit: () => Math.random(),
}

function armTimer(delayMs: number, fire: () => void): Timer {
  if (Number.isNaN(delayMs)) throw new InvalidArgument('a timer must have a delay in ms, not NaN')
  const dueMs = performance.now() + Math.max(0, delayMs)
  const arm = (): NodeJS.Timeout => {
    const leftMs = dueMs - performance.now()
    return leftMs > timerMsMax
      ? setTimeout(() => (handle = arm()), timerMsMax)
      : setTimeout(fire, Math.max(0, Math.ceil(leftMs)))
  }
  let handle = arm()
  return { cancel: () => clearTimeout(handle) }
}

export function systemHostName(): string {
  return hostname()
}
