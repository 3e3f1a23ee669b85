import { leaseLasts } from '../../../properties/lease-lasts.ts'
import { oneStartThroughOutage } from '../../../properties/one-start-through-outage.ts'
import { postOutageGrace } from '../../../properties/post-outage-grace.ts'
import type { Topology } from '../topology.ts'
import { coreWithout, intervals, nap, overCallMs, overLeaseMs } from './common.ts'

export const outageAndGrace: Topology = {
  name: 'outage-and-grace',
  says: 'the database is away for longer than a lease, and a live worker keeps its job',
  workers: 1,
  sweepers: 1,
  concurrency: 1,
  intervals,
  jobs: [nap],
  work: [{ atMs: 0, job: nap, input: { forMs: 20_000 }, options: { id: 'j1' } }],
  horizonMs: 100_000,
  faults: [
    {
      family: 'outage-long',
      forMs: overLeaseMs,
      lands: true,
      calls: ['claims.claim', 'claims.renew', 'watch.move'],
    },
    { family: 'lost-request', calls: ['claims.renew', 'watch.move'] },
    { family: 'late-request', forMs: overCallMs, calls: ['claims.renew', 'watch.move'] },
    { family: 'crash', forMs: 2_000, nodes: ['w2'], calls: ['watch.move'] },
  ],
  properties: [...coreWithout(leaseLasts), postOutageGrace, oneStartThroughOutage],
  deviations: 2,
  quick: 1,
}
