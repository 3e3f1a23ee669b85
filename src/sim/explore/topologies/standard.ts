import { type HandledJob, defineJob } from '../../../engine/jobs/definition.ts'
import { capacity } from '../../../properties/capacity.ts'
import { exactBudgets } from '../../../properties/exact-budgets.ts'
import { exactlyOnceClaim } from '../../../properties/exactly-once-claim.ts'
import { fencing } from '../../../properties/fencing.ts'
import { leaseLasts } from '../../../properties/lease-lasts.ts'
import { singleTerminalState } from '../../../properties/single-terminal-state.ts'
import type { Topology } from '../topology.ts'

const nap: HandledJob<{ readonly forMs: number }> = defineJob<{ readonly forMs: number }>({
  name: 'nap',
  leaseTtlMs: 30_000,
  timeoutMs: 120_000,
  retry: { maxAttempts: 3, maxEvictions: 3, backoff: { kind: 'constant', delayMs: 1_000, jitter: false } },
  run: ({ input, sleep }) => sleep(input.forMs),
})

export const standard: Topology = {
  name: 'standard',
  says: 'two workers and a sweeper apart, two jobs',
  workers: 2,
  sweepers: 1,
  concurrency: 1,
  intervals: { pollMs: 7_000, pollMsMax: 7_000, sweepMs: 6_000, heartbeatRetryMs: 1_000, replyMs: 500 },
  jobs: [nap],
  work: [
    { atMs: 0, job: nap, input: { forMs: 12_000 }, options: { id: 'j1' } },
    { atMs: 0, job: nap, input: { forMs: 12_000 }, options: { id: 'j2' } },
  ],
  horizonMs: 60_000,
  faults: [
    { family: 'lost-request' },
    { family: 'lost-reply' },
    { family: 'late-request', forMs: 2_000 },
    { family: 'late-request', forMs: 9_000 },
    { family: 'slow-reply', forMs: 2_000 },
    { family: 'slow-reply', forMs: 9_000 },
    { family: 'pause', forMs: 9_000, nodes: ['w1', 'w2'] },
    { family: 'pause', forMs: 33_000, nodes: ['w1', 'w2'] },
    { family: 'crash', forMs: 2_000, nodes: ['w1', 'w2'] },
    { family: 'database-restart', forMs: 500, lands: false },
    { family: 'database-restart', forMs: 500, lands: true },
  ],
  properties: [exactlyOnceClaim, fencing, singleTerminalState, exactBudgets, capacity, leaseLasts],
  deviations: 2,
}
