import type { LeaseRow, WatchMoveParams, WatchState } from '../ports/store.ts'

/**
 * The outage watch: what has been seen of the store is a row in the store, so that grace survives every
 * restart. Outages, stalls, paused sweepers and clock jumps all show as a gap in it.
 */

/** Movers may wait for one another, so a stamp may lie this far ahead of a transaction's own now. */
const aheadMsMax = 1_000

export function isFresh({ seenAtMs, sweepMs }: WatchState, nowMs: number): boolean {
  return seenAtMs !== null && nowMs - seenAtMs <= 2 * sweepMs && seenAtMs - nowMs <= aheadMsMax
}

/** A clock that was set back by more than this, in ms, has restarted the watch; by less, it need not have. */
export function setBackMsMax(sweepMs: number): number {
  return 2 * sweepMs + aheadMsMax
}

/**
 * Whether nobody can be holding the lease any more: it lapsed, or it ends later than the clock, set back by what
 * the watch may have missed, lets a live one end. A live lease that was renewed before such a jump is not silent
 * (decision 0009).
 */
export function isSilent(
  { expiresAtMs, ttlMs }: Pick<LeaseRow, 'expiresAtMs' | 'ttlMs'>,
  sweepMs: number,
  nowMs: number,
): boolean {
  return nowMs >= expiresAtMs || expiresAtMs > nowMs + ttlMs + setBackMsMax(sweepMs)
}

/**
 * Moves the watch to now: goes on if it was fresh, else restarts. Restarts too where the clock was set back since the
 * sender last heard of it, for then nobody can tell how long the store was away. Refuses a move that is late itself,
 * or may be: its sender has heard nothing since the watch began (decision 0014).
 */
export function moved(
  watch: WatchState,
  { lastReplyMs, sinceReplyMs, maxAgeMs }: WatchMoveParams,
  nowMs: number,
): { readonly kind: 'moved' | 'restarted' | 'refused'; readonly watch: WatchState } {
  const ageMs = nowMs - (lastReplyMs + sinceReplyMs)
  if (ageMs > maxAgeMs) return { kind: 'refused', watch }
  const setBack = ageMs < -aheadMsMax
  if (!setBack && watch.seenSinceMs !== null && isFresh(watch, nowMs)) {
    // Its sender has heard nothing since the watch began: how late it is was dated by another time.
    if (lastReplyMs < watch.seenSinceMs) return { kind: 'refused', watch }
    return { kind: 'moved', watch: { ...watch, seenAtMs: Math.max(watch.seenAtMs ?? nowMs, nowMs) } }
  }
  return { kind: 'restarted', watch: { ...watch, seenSinceMs: nowMs, seenAtMs: nowMs } }
}
