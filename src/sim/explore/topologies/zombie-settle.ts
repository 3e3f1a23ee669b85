import { signalTruth } from '../../../properties/signal-truth.ts'
import type { Topology } from '../topology.ts'
import { core, intervals, nap, overCallMs, overLeaseMs, underCallMs } from './common.ts'

export const zombieSettle: Topology = {
  name: 'zombie-settle',
  says: 'a worker that slept through its lease settles what another has begun anew',
  workers: 2,
  sweepers: 0,
  concurrency: 1,
  intervals,
  jobs: [nap],
  work: [{ atMs: 0, job: nap, input: { forMs: 12_000 }, options: { id: 'j1' } }],
  horizonMs: 75_000,
  faults: [
    { family: 'pause', forMs: overLeaseMs, calls: ['claims.claim', 'claims.renew', 'jobs.settle'] },
    { family: 'late-request', forMs: overCallMs, calls: ['jobs.settle'] },
    { family: 'late-request', forMs: overLeaseMs, calls: ['jobs.settle', 'claims.renew'] },
    { family: 'lost-reply', calls: ['jobs.settle', 'claims.renew'] },
    { family: 'crash', forMs: underCallMs, calls: ['jobs.settle'] },
    { family: 'database-restart', forMs: 500, lands: true, calls: ['jobs.settle'] },
    { family: 'database-restart', forMs: 500, lands: false, calls: ['jobs.settle'] },
  ],
  properties: [...core, signalTruth],
  deviations: 2,
}
