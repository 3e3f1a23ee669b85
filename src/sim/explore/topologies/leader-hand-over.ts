import { namedLeaseExclusive } from '../../../properties/named-lease-exclusive.ts'
import type { Topology } from '../topology.ts'
import { intervals, nap, overCallMs, underCallMs } from './common.ts'

const calls = ['leases.acquire', 'leases.renew', 'leases.release']

export const leaderHandOver: Topology = {
  name: 'leader-hand-over',
  says: 'two processes take turns at what only one of them may do',
  workers: 2,
  sweepers: 0,
  concurrency: 1,
  // No jobs: only the lease that is led counts, so they look for none and sweep once.
  intervals: { ...intervals, pollMs: 60_000, pollMsMax: 60_000 },
  jobs: [nap],
  work: [],
  duties: [{ key: 'clockwork', ttlMs: 12_000, workMs: 40_000, leads: true }],
  horizonMs: 45_000,
  faults: [
    { family: 'lost-request', calls },
    { family: 'lost-reply', calls },
    { family: 'late-request', forMs: underCallMs, calls },
    { family: 'late-request', forMs: overCallMs, calls },
    { family: 'slow-reply', forMs: underCallMs, calls },
    { family: 'pause', forMs: overCallMs, calls },
    { family: 'crash', forMs: underCallMs, calls },
  ],
  properties: [namedLeaseExclusive],
  deviations: 2,
  quick: 1,
}
