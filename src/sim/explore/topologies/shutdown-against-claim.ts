import { leaseLasts } from '../../../properties/lease-lasts.ts'
import { shutdownCostsNothing } from '../../../properties/shutdown-costs-nothing.ts'
import type { Topology } from '../topology.ts'
import { coreWithout, intervals, nap, overCallMs, underCallMs } from './common.ts'

const calls = ['claims.claim', 'claims.recover', 'jobs.settle']

export const shutdownAgainstClaim: Topology = {
  name: 'shutdown-against-claim',
  says: 'a worker is asked to stop while a claim of it is in flight',
  workers: 1,
  sweepers: 1,
  concurrency: 1,
  intervals,
  jobs: [nap],
  work: [
    { atMs: 0, job: nap, input: { forMs: 4_000 }, options: { id: 'j1' } },
    { atMs: 0, job: nap, input: { forMs: 4_000 }, options: { id: 'j2' } },
  ],
  horizonMs: 45_000,
  faults: [
    { family: 'shutdown', forMs: underCallMs, nodes: ['w1'] },
    { family: 'lost-request', calls },
    { family: 'lost-reply', calls },
    { family: 'late-request', forMs: overCallMs, calls },
    { family: 'slow-reply', forMs: underCallMs, calls },
  ],
  properties: [...coreWithout(leaseLasts), shutdownCostsNothing],
  deviations: 2,
}
