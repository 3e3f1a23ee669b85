import { cancelObserved } from '../../../properties/cancel-observed.ts'
import { versionsCount } from '../../../properties/versions-count.ts'
import type { Topology } from '../topology.ts'
import { core, intervals, nap, overLeaseMs, underCallMs } from './common.ts'

export const retryAgainstReclaim: Topology = {
  name: 'retry-against-reclaim',
  says: 'an operator cancels a job and begins it anew, while its worker sleeps and its lease is taken back',
  workers: 2,
  sweepers: 0,
  concurrency: 1,
  intervals,
  jobs: [nap],
  work: [{ atMs: 0, job: nap, input: { forMs: 12_000 }, options: { id: 'j1' } }],
  orders: [{ atMs: 5_000, command: 'cancel', job: 'j1' }],
  horizonMs: 75_000,
  faults: [
    { family: 'operator', order: { command: 'retry', job: 'j1' } },
    {
      family: 'pause',
      forMs: overLeaseMs,
      nodes: ['w1'],
      calls: ['claims.claim', 'claims.renew', 'jobs.settle'],
    },
    {
      family: 'crash',
      forMs: underCallMs,
      nodes: ['w1'],
      calls: ['claims.claim', 'claims.renew', 'jobs.settle'],
    },
    { family: 'late-request', forMs: overLeaseMs, calls: ['jobs.settle', 'claims.renew', 'jobs.retry'] },
    { family: 'lost-reply', calls: ['jobs.settle', 'jobs.retry', 'jobs.reclaim'] },
  ],
  properties: [...core, cancelObserved, versionsCount],
  deviations: 2,
}
