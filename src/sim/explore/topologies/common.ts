import { type HandledJob, defineJob } from '../../../engine/jobs/definition.ts'
import { capacity } from '../../../properties/capacity.ts'
import { exactBudgets } from '../../../properties/exact-budgets.ts'
import { exactlyOnceClaim } from '../../../properties/exactly-once-claim.ts'
import { fencing } from '../../../properties/fencing.ts'
import { leaseLasts } from '../../../properties/lease-lasts.ts'
import type { Property } from '../../../properties/property.ts'
import { singleTerminalState } from '../../../properties/single-terminal-state.ts'
import type { Topology } from '../topology.ts'

export interface Nap {
  readonly forMs: number
}

/** The one kind of job: it sleeps once, so that its timer and its input say how far it is. */
export const nap: HandledJob<Nap> = defineJob<Nap>({
  name: 'nap',
  leaseTtlMs: 30_000,
  timeoutMs: 120_000,
  retry: { maxAttempts: 3, maxEvictions: 3, backoff: { kind: 'constant', delayMs: 1_000, jitter: false } },
  run: ({ input, sleep }) => sleep(input.forMs),
})

/** Within one lease of 30 s: four polls, three heartbeats, five sweeps, and the margin that the engine asks for. */
export const intervals: Topology['intervals'] = {
  pollMs: 7_000,
  pollMsMax: 7_000,
  sweepMs: 6_000,
  heartbeatRetryMs: 1_000,
  replyMs: 500,
}

/** What a topology is judged by, but for what it cannot bring about. */
export const core: readonly Property[] = [
  exactlyOnceClaim,
  fencing,
  singleTerminalState,
  exactBudgets,
  capacity,
  leaseLasts,
]

/** The core without a property that the topology cannot put to the test. */
export function coreWithout(property: Property): readonly Property[] {
  return core.filter((other) => other !== property)
}

/**
 * How long faults last: strictly between the thresholds that decide. A call is given up after 5 s, and asked again at
 * once or 1 s later; a lease lasts 30 s.
 */
export const underCallMs = 2_000
export const overCallMs = 9_000
export const overLeaseMs = 33_000
