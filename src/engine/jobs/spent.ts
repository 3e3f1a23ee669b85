import { type JobRecord, isTerminal } from './record.ts'

/**
 * Whether nobody needs the job any more: it has ended, and is over its own `keepMs`; an open dead letter has been one
 * for `deadLetterMs`, too. Stores that keep rows say the same in SQL.
 */
export function isSpent(
  { spec, state, finishedAtMs, deadAtMs }: SpentFacts,
  deadLetterMs: number,
  nowMs: number,
): boolean {
  if (!isTerminal(state) || finishedAtMs === null || nowMs - finishedAtMs < spec.keepMs) return false
  return deadAtMs === null || nowMs - deadAtMs >= deadLetterMs
}

type SpentFacts = Pick<JobRecord, 'state' | 'finishedAtMs' | 'deadAtMs'> & {
  readonly spec: Pick<JobRecord['spec'], 'keepMs'>
}
