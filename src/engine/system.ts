import { randomUUID } from 'node:crypto'
import { hostname, uptime } from 'node:os'
import { createElapsed } from './elapsed.ts'
import { type OneShots, longTimer } from './long-timer.ts'
import type { Clock } from './ports/clock.ts'
import { createOrderedIds } from './ordered-id.ts'
import type { Random } from './ports/random.ts'

/** The only file that touches the machine's clocks, timers and chance. */

const monotonicMs = createElapsed(
  () => performance.now(),
  () => uptime() * 1_000,
)

const oneShots: OneShots = {
  monotonicMs,
  after: (delayMs, _label, fire) => {
    const handle = setTimeout(fire, delayMs)
    return { cancel: () => clearTimeout(handle) }
  },
}

export const systemClock: Clock = {
  monotonicMs,
  wallMs: () => Date.now(),
  timer: (delayMs, label, fire) => longTimer(oneShots, delayMs, label, fire),
}

export const systemRandom: Random = {
  id: createOrderedIds(() => Date.now(), randomUUID),
  unit: () => Math.random(),
}

export function systemHostName(): string {
  return hostname()
}
