import { claimOrder } from '../../../properties/claim-order.ts'
import { leaseLasts } from '../../../properties/lease-lasts.ts'
import type { Topology } from '../topology.ts'
import { coreWithout, intervals, nap, overCallMs, underCallMs } from './common.ts'

export const moreJobsThanSlots: Topology = {
  name: 'more-jobs-than-slots',
  says: 'one worker with two slots, four jobs of different lengths',
  workers: 1,
  sweepers: 0,
  concurrency: 2,
  intervals,
  jobs: [nap],
  work: [
    { atMs: 0, job: nap, input: { forMs: 3_000 }, options: { id: 'j1' } },
    { atMs: 0, job: nap, input: { forMs: 8_000 }, options: { id: 'j2' } },
    { atMs: 0, job: nap, input: { forMs: 3_000 }, options: { id: 'j3' } },
    { atMs: 0, job: nap, input: { forMs: 3_000 }, options: { id: 'j4', priority: 'high' } },
  ],
  horizonMs: 30_000,
  faults: [
    { family: 'lost-reply', calls: ['claims.claim', 'claims.recover', 'jobs.settle'] },
    { family: 'late-request', forMs: overCallMs, calls: ['claims.claim', 'jobs.settle'] },
    { family: 'slow-reply', forMs: underCallMs, calls: ['claims.claim', 'jobs.settle'] },
    { family: 'crash', forMs: underCallMs, calls: ['claims.claim', 'jobs.settle'] },
    { family: 'pause', forMs: overCallMs, calls: ['claims.claim', 'jobs.settle'] },
    { family: 'database-restart', forMs: 500, lands: true, calls: ['claims.claim', 'jobs.settle'] },
  ],
  properties: [...coreWithout(leaseLasts), claimOrder],
  deviations: 2,
}
