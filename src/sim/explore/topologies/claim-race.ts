import type { Topology } from '../topology.ts'
import { core, intervals, nap, overCallMs, underCallMs } from './common.ts'

const calls = ['claims.claim', 'claims.recover']

export const claimRace: Topology = {
  name: 'claim-race',
  says: 'two workers ask for one job, then for the next',
  workers: 2,
  sweepers: 0,
  concurrency: 1,
  intervals,
  jobs: [nap],
  work: [
    { atMs: 0, job: nap, input: { forMs: 3_000 }, options: { id: 'j1' } },
    { atMs: 9_000, job: nap, input: { forMs: 3_000 }, options: { id: 'j2' } },
  ],
  horizonMs: 32_000,
  faults: [
    // By as much as they start apart: then both ask in one instant.
    { family: 'late-request', forMs: 70, calls },
    { family: 'late-request', forMs: underCallMs, calls },
    { family: 'late-request', forMs: overCallMs, calls },
    { family: 'lost-reply', calls },
    { family: 'slow-reply', forMs: overCallMs, calls },
    { family: 'crash', forMs: underCallMs, calls },
    { family: 'database-restart', forMs: 500, lands: true, calls },
  ],
  properties: core,
  deviations: 2,
}
