import { leaseCertainty } from '../../../properties/lease-certainty.ts'
import { signalTruth } from '../../../properties/signal-truth.ts'
import type { Topology } from '../topology.ts'
import { core, intervals, nap, overCallMs, overLeaseMs } from './common.ts'

const calls = ['claims.renew']

export const leaseLapse: Topology = {
  name: 'lease-lapse',
  says: 'a lease lapses while its renewal is late, or its worker asleep',
  workers: 1,
  sweepers: 1,
  concurrency: 1,
  intervals,
  jobs: [nap],
  work: [{ atMs: 0, job: nap, input: { forMs: 40_000 }, options: { id: 'j1' } }],
  horizonMs: 75_000,
  faults: [
    { family: 'lost-request', calls },
    { family: 'lost-reply', calls },
    { family: 'late-request', forMs: overCallMs, calls },
    { family: 'late-request', forMs: overLeaseMs, calls },
    { family: 'slow-reply', forMs: overLeaseMs, calls },
    { family: 'pause', forMs: 22_000, calls, nodes: ['w1'] },
    { family: 'pause', forMs: overLeaseMs, calls, nodes: ['w1'] },
    { family: 'lost-request', nodes: ['w2'], calls: ['watch.move'] },
    { family: 'late-request', forMs: overCallMs, nodes: ['w2'], calls: ['watch.move', 'jobs.reclaim'] },
    { family: 'database-restart', forMs: 500, lands: true, calls: ['claims.renew', 'jobs.reclaim'] },
  ],
  properties: [...core, leaseCertainty, signalTruth],
  deviations: 2,
}
