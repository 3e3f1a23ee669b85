import type { Topology } from '../topology.ts'
import { core, intervals, nap, overCallMs, overLeaseMs, underCallMs } from './common.ts'

export const standard: Topology = {
  name: 'standard',
  says: 'two workers and a sweeper apart, two jobs',
  workers: 2,
  sweepers: 1,
  concurrency: 1,
  intervals,
  jobs: [nap],
  work: [
    { atMs: 0, job: nap, input: { forMs: 12_000 }, options: { id: 'j1' } },
    { atMs: 0, job: nap, input: { forMs: 12_000 }, options: { id: 'j2' } },
  ],
  horizonMs: 60_000,
  faults: [
    { family: 'lost-request' },
    { family: 'lost-reply' },
    { family: 'late-request', forMs: overCallMs },
    { family: 'slow-reply', forMs: underCallMs },
    { family: 'slow-reply', forMs: overCallMs },
    { family: 'pause', forMs: overLeaseMs, nodes: ['w1', 'w2'] },
    { family: 'crash', forMs: underCallMs, nodes: ['w1', 'w2'] },
    { family: 'database-restart', forMs: 500, lands: true },
  ],
  properties: core,
  deviations: 2,
  quick: 1,
}
