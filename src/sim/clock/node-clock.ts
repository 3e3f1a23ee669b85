import type { Clock } from '../../engine/ports/clock.ts'
import type { Incarnation } from '../node.ts'
import type { World } from '../world.ts'

/** The database counts from here, in ms since the Unix epoch: 2026-01-01T00:00:00Z. */
export const epochMs = 1_767_225_600_000

/** One incarnation's clock: its monotonic time has an origin of its own, its wall time the node's skew. */
export function createNodeClock(world: World, owner: Incarnation, originMs: number): Clock {
  return {
    monotonicMs: () => world.nowMs + originMs,
    wallMs: () => epochMs + world.nowMs + owner.node.skewMs,
    timer: (delayMs, label, fire) => {
      const waits = label === 'sleep' ? owner : null
      if (waits) waits.waits += 1
      const event = world.schedule(
        owner,
        firesAfterMs(owner, label, Math.max(0, Math.ceil(delayMs))),
        label,
        () => {
          if (waits) waits.waits -= 1
          world.recorder.timer(owner, label)
          fire()
        },
      )
      return {
        cancel: () => {
          if (waits && event.live) waits.waits -= 1
          event.live = false
        },
      }
    },
  }
}

/** A timer that is early still takes time, or a wait that begins anew for the rest would never get on. */
function firesAfterMs({ node: { timers } }: Incarnation, label: string, delayMs: number): number {
  if (timers === null || delayMs === 0 || (timers.only !== null && timers.only !== label)) return delayMs
  return timers.lateMs >= 0 ? delayMs + timers.lateMs : Math.max(1, delayMs + timers.lateMs)
}
