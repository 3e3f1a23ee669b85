/** How fast a machine's clock runs: what it has counted at some true time, and how much it counts since. */
export interface Pace {
  /** Its ms in one true ms. */
  readonly rate: number
  readonly sinceMs: number
  readonly countedMs: number
}

/** What a clock has counted by now; null is one that was always right. */
export function elapsedMs(pace: Pace | null, nowMs: number): number {
  return pace === null ? nowMs : pace.countedMs + (nowMs - pace.sinceMs) * pace.rate
}

/** How long the machine's `delayMs` take, in whole true ms, and never less. */
export function trueMsOf(pace: Pace | null, delayMs: number): number {
  return pace === null ? delayMs : Math.ceil(delayMs / pace.rate)
}

/** The same clock, from now on at another rate: it neither jumps nor goes back. */
export function paced(pace: Pace | null, rate: number, nowMs: number): Pace {
  return { rate, sinceMs: nowMs, countedMs: elapsedMs(pace, nowMs) }
}
