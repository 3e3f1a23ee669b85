/**
 * Elapsed time that goes on while the machine sleeps. What Node counts by (CLOCK_MONOTONIC) stands still then, so a
 * worker that slept through its lease would still vouch for it: hence the time since boot is looked at beside it.
 * No wall clock is asked: setting it is no sleep, and must decide nothing.
 */
const lookEveryMs = 100
/** The time since boot is coarse on some systems: a second. */
const coarseMs = 2_000

export function createElapsed(awakeMs: () => number, sinceBootMs: () => number): () => number {
  let apartMs: number | null = null
  let sleptMs = 0
  let lookedAtMs = 0
  return () => {
    const nowMs = awakeMs()
    if (apartMs === null || nowMs - lookedAtMs >= lookEveryMs) {
      lookedAtMs = nowMs
      const isApartMs = sinceBootMs() - nowMs
      apartMs ??= isApartMs
      if (isApartMs - apartMs - sleptMs > coarseMs) sleptMs = isApartMs - apartMs
    }
    return nowMs + sleptMs
  }
}
