import type { Topology } from '../topology.ts'
import { core, intervals, nap, overCallMs, overLeaseMs } from './common.ts'

export const reclaimAgainstSettle: Topology = {
  name: 'reclaim-against-settle',
  says: 'a job is taken back at the moment at which its worker settles it',
  workers: 1,
  sweepers: 1,
  concurrency: 1,
  intervals,
  jobs: [nap],
  work: [{ atMs: 0, job: nap, input: { forMs: 29_000 }, options: { id: 'j1' } }],
  horizonMs: 75_000,
  faults: [
    { family: 'pause', forMs: overLeaseMs, nodes: ['w1'], calls: ['claims.claim', 'claims.renew'] },
    { family: 'late-request', forMs: overLeaseMs, calls: ['claims.renew', 'jobs.settle'] },
    { family: 'late-request', forMs: overCallMs, calls: ['jobs.settle', 'jobs.reclaim'] },
    { family: 'lost-request', calls: ['claims.renew'] },
    { family: 'lost-reply', calls: ['jobs.settle', 'jobs.reclaim'] },
    { family: 'crash', forMs: 500, nodes: ['w2'], calls: ['jobs.reclaim', 'watch.move'] },
    { family: 'database-restart', forMs: 500, lands: true, calls: ['jobs.settle', 'jobs.reclaim'] },
    { family: 'pause', forMs: overCallMs, nodes: ['w2'], calls: ['watch.move', 'jobs.reclaim'] },
  ],
  properties: core,
  deviations: 2,
}
