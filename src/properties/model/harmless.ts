/**
 * Faults that trouble no process: a wrong wall clock, an operator's commands, and handlers that misbehave
 * (one that kills its process is told by that death). They exempt from nothing.
 */
export function isHarmless(family: string): boolean {
  return family === 'clock-skew' || family === 'operator' || family.startsWith('handler-')
}
