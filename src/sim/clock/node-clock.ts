import { type OneShots, longTimer, oneShotMsMax } from '../../engine/long-timer.ts'
import type { Clock, Timer } from '../../engine/ports/clock.ts'
import type { Incarnation, SimNode } from '../node.ts'
import type { World } from '../world.ts'
import { elapsedMs, trueMsOf } from './pace.ts'

/** The database counts from here, in ms since the Unix epoch: 2026-01-01T00:00:00Z. */
export const epochMs = 1_767_225_600_000

/**
 * One incarnation's clock: its monotonic time has an origin of its own, its wall time the node's skew, both run
 * at the machine's pace. Under it are timers like Node's, so that long ones are split here as they are there.
 */
export function createNodeClock(world: World, owner: Incarnation, originMs: number): Clock {
  const { node } = owner
  const monotonicMs = (): number => elapsedMs(node.pace, world.nowMs) + originMs
  const shots: OneShots = {
    monotonicMs,
    after: (delayMs, label, fire) => {
      const event = world.schedule(owner, firesAfterMs(node, label, delayMs), label, () => {
        world.recorder.timer(owner, label)
        fire()
      })
      return {
        cancel: () => {
          event.live = false
        },
      }
    },
  }
  return {
    monotonicMs,
    wallMs: () => epochMs + Math.floor(elapsedMs(node.pace, world.nowMs)) + node.skewMs,
    timer: (delayMs, label, fire) =>
      ofHandlers.has(label)
        ? waitedFor(owner, shots, delayMs, label, fire)
        : longTimer(shots, delayMs, label, fire),
  }
}

/** Labels of timers that a handler waits for. */
const ofHandlers: ReadonlySet<string> = new Set(['sleep', 'commit-retry'])

/** A timer that a handler waits for. */
function waitedFor(
  owner: Incarnation,
  shots: OneShots,
  delayMs: number,
  label: string,
  fire: () => void,
): Timer {
  let waits = true
  const over = (): void => {
    if (waits) owner.waits -= 1
    waits = false
  }
  owner.waits += 1
  const timer = longTimer(shots, delayMs, label, () => {
    over()
    fire()
  })
  return {
    cancel: () => {
      over()
      timer.cancel()
    },
  }
}

/** In true time. A timer that is early still takes time, or a wait that begins anew for the rest would never get on. */
function firesAfterMs({ timers, pace }: SimNode, label: string, asMs: number): number {
  const delayMs = trueMsOf(pace, asMs > oneShotMsMax ? 1 : asMs)
  if (timers === null || delayMs === 0 || (timers.only !== null && timers.only !== label)) return delayMs
  return timers.lateMs >= 0 ? delayMs + timers.lateMs : Math.max(1, delayMs + timers.lateMs)
}
