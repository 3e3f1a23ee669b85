import { cancelObserved } from '../../../properties/cancel-observed.ts'
import type { Topology } from '../topology.ts'
import { core, intervals, nap, overCallMs, overLeaseMs, underCallMs } from './common.ts'

const calls = ['jobs.settle', 'jobs.requestCancel', 'claims.renew']

export const cancelAgainstComplete: Topology = {
  name: 'cancel-against-complete',
  says: 'an operator cancels a job that is about to be claimed, renewed or settled',
  workers: 1,
  sweepers: 1,
  concurrency: 1,
  intervals,
  jobs: [nap],
  work: [{ atMs: 0, job: nap, input: { forMs: 14_000 }, options: { id: 'j1' } }],
  horizonMs: 75_000,
  faults: [
    { family: 'operator', order: { command: 'cancel', job: 'j1' } },
    { family: 'lost-request', calls },
    { family: 'lost-reply', calls },
    { family: 'late-request', forMs: overCallMs, calls },
    { family: 'slow-reply', forMs: underCallMs, calls },
    { family: 'crash', forMs: underCallMs, nodes: ['w1'], calls },
    { family: 'pause', forMs: overCallMs, nodes: ['w1'], calls },
    { family: 'pause', forMs: overLeaseMs, nodes: ['w1'], calls },
    { family: 'database-restart', forMs: 500, lands: true, calls },
  ],
  properties: [...core, cancelObserved],
  deviations: 2,
}
