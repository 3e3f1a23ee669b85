import { epochMs } from './clock/node-clock.ts'
import type { AmbientSource } from './guard/watch.ts'
import type { LeakGuard } from './guard/guard.ts'
import type { World } from './world.ts'

/**
 * The guard of a run whose bench lets its handlers ask for time and chance. The clock is the world's, the same on all
 * machines: a wrong one there would make the course of a run depend on what the engine never looks at.
 */
export function ambientOf(
  ambient: 'refuse' | 'virtual' | undefined,
  world: World,
  guard: LeakGuard,
): LeakGuard {
  if (ambient !== 'virtual') return guard
  const counts = new Map<string, number>()
  const source: AmbientSource = {
    nowMs: () => epochMs + world.nowMs,
    random: () => {
      const who = world.lastOwner?.who ?? 'env'
      const count = (counts.get(who) ?? 0) + 1
      counts.set(who, count)
      return world.chooser.below(4_294_967_296, 'ambient', who, 'random', count) / 4_294_967_296
    },
  }
  // Several runs may share a thread, so it is theirs only while they move.
  return {
    ...guard,
    arm: () => {
      guard.virtualise(source)
      guard.arm()
    },
    disarm: () => {
      guard.disarm()
      guard.virtualise(null)
    },
  }
}
