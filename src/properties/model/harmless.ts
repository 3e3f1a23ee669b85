/**
 * Faults that trouble no process: a wrong wall clock, one that runs a little fast or slow (which `driftMs` allows
 * for), an operator's commands, handlers that misbehave (one that kills its process is told by that death), and what
 * befalls calls of a user's own services.
 * They exempt from nothing.
 */
export function isHarmless(family: string): boolean {
  return harmless.has(family) || family.startsWith('handler-') || family.startsWith('service-')
}

const harmless: ReadonlySet<string> = new Set(['clock-skew', 'drift', 'operator', 'dead-letters'])
