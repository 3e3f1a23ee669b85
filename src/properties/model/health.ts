import type { Who } from './who.ts'
import type { World } from './world.ts'

/** Alive and awake. A node of which nothing was said is well. */
export function isAwake(world: World, { node, incarnation }: Who): boolean {
  const life = world.nodes.get(node)
  return life === undefined || (life.incarnation === incarnation && life.alive && !life.paused)
}

/** Alive, awake, and neither struck by a fault nor paused at or after `sinceMs`. */
export function isUntouched(world: World, who: Who, sinceMs: number): boolean {
  if (!isAwake(world, who)) return false
  const touchedAtMs = world.nodes.get(who.node)?.touchedAtMs ?? null
  return touchedAtMs === null || touchedAtMs < sinceMs
}

/** Alive and awake, with timers that were right and an event loop that was free since then. */
export function isPunctual(world: World, who: Who, sinceMs: number): boolean {
  return isAwake(world, who) && (world.nodes.get(who.node)?.lateAtMs ?? -1) < sinceMs
}

/** The database has answered everybody since then, and its clock did not jump. */
export function isDatabaseWell({ downAtMs, mishaps }: World, sinceMs: number): boolean {
  return downAtMs === null && (mishaps.at(-1)?.toMs ?? -1) < sinceMs
}

/**
 * Whether nothing but one outage at a time can have kept this worker from renewing a lease of `leaseTtlMs`
 * lately. Twice the TTL is how long the traces of a mishap last: a lease that it cost a renewal lapses
 * within one, and the outage watch gives another.
 *
 * Two mishaps of the database in close succession exempt (contract 0.3): each may swallow a heartbeat, and
 * the watch does not notice outages of up to two sweeps. The margin promises
 * `storeCallMs + heartbeatRetryMs < leaseTtlMs - 2 x sweepMs - 2 x replyMs`, and the retry interval
 * itself is not in the history: so the right-hand side is the shortest up-time that surely suffices.
 */
export function mustKeepLease(world: World, who: Who, leaseTtlMs: number, nowMs: number): boolean {
  const sinceMs = nowMs - 2 * leaseTtlMs
  const upMs = leaseTtlMs - 2 * world.sweepMs - 2 * world.replyMs
  return isUntouched(world, who, sinceMs) && !wasCrowded(world, sinceMs, upMs)
}

/** Whether the database had a mishap after `sinceMs` that came less than `upMs` after the one before it. */
function wasCrowded({ mishaps }: World, sinceMs: number, upMs: number): boolean {
  for (let k = mishaps.length - 1; k > 0; k--) {
    const [before, mishap] = [mishaps[k - 1], mishaps[k]]
    if (!before || !mishap || mishap.toMs < sinceMs) return false
    if (mishap.fromMs - before.toMs < upMs) return true
  }
  return false
}

/** Clocks run fast or slow by at most this part. */
const driftMost = 0.01

/** By how much this worker, by its own clock, may have been wrong about `ms` that began at or after `sinceMs`. */
export function driftMs(world: World, who: Who, sinceMs: number, ms: number): number {
  const untilMs = world.nodes.get(who.node)?.driftsUntilMs ?? -1
  // A clock that was drifting shows parts of a millisecond for ever.
  const partMs = untilMs < 0 ? 0 : 1
  return untilMs < sinceMs ? partMs : Math.ceil(ms * driftMost) + 1
}
