import type { Topology } from '../topology.ts'
import { core, intervals, nap, overCallMs, overLeaseMs, underCallMs } from './common.ts'

/** The standard one with fewer to choose from, for which more deviations can be looked at. */
export const lone: Topology = {
  name: 'lone',
  says: 'one worker and a sweeper apart, one job, one length a fault, and three deviations',
  workers: 1,
  sweepers: 1,
  concurrency: 1,
  intervals,
  jobs: [nap],
  work: [{ atMs: 0, job: nap, input: { forMs: 12_000 }, options: { id: 'j1' } }],
  horizonMs: 60_000,
  faults: [
    { family: 'lost-request', nodes: ['w1'] },
    { family: 'lost-reply', nodes: ['w1'] },
    { family: 'late-request', forMs: overCallMs, nodes: ['w1'] },
    { family: 'slow-reply', forMs: underCallMs, nodes: ['w1'] },
    { family: 'pause', forMs: overLeaseMs, nodes: ['w1'] },
    { family: 'crash', forMs: underCallMs, nodes: ['w1'] },
    { family: 'database-restart', forMs: 500, lands: true, calls: ['claims.claim', 'jobs.settle'] },
  ],
  properties: core,
  deviations: 3,
  quick: 1,
}
