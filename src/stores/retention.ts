import { logLinesMax } from '../engine/ports/logs.ts'

/** What the stores say alike of what is removed. */

/** So many lines of logs go in one call, or those of one job: a job may have as many as a thousand others have rows. */
export const sweptLinesMax: number = 5 * logLinesMax

/** How many of these jobs, by the lines of their logs, go in one call: the first of them, and at least one. */
export function goingAtOnce(lines: readonly number[]): number {
  let sum = 0
  const over = lines.findIndex((count, k) => {
    sum += count
    return k > 0 && sum > sweptLinesMax
  })
  return over < 0 ? lines.length : over
}

/** Whether a pass ends at a job that was created then: one from the future was created by a clock that was wrong. */
export function isYoung(createdAtMs: number, olderMs: number, nowMs: number): boolean {
  return createdAtMs <= nowMs && nowMs - createdAtMs < olderMs
}
