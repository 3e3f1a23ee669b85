import { doubtClaimsNothing } from '../../../properties/doubt-claims-nothing.ts'
import { leaseLasts } from '../../../properties/lease-lasts.ts'
import { lostReplyCostsNothing } from '../../../properties/lost-reply-costs-nothing.ts'
import type { Topology } from '../topology.ts'
import { coreWithout, intervals, nap, overCallMs, underCallMs } from './common.ts'

const calls = ['claims.claim', 'claims.recover']

export const lostClaimReply: Topology = {
  name: 'lost-claim-reply',
  says: 'a worker recovers claims of which it heard nothing, while their requests may still be under way',
  workers: 1,
  sweepers: 1,
  concurrency: 1,
  intervals,
  jobs: [nap],
  work: [
    { atMs: 0, job: nap, input: { forMs: 6_000 }, options: { id: 'j1' } },
    { atMs: 0, job: nap, input: { forMs: 6_000 }, options: { id: 'j2' } },
  ],
  horizonMs: 45_000,
  faults: [
    { family: 'lost-request', calls },
    { family: 'lost-reply', calls },
    { family: 'late-request', forMs: underCallMs, calls },
    { family: 'late-request', forMs: overCallMs, calls },
    { family: 'slow-reply', forMs: overCallMs, calls },
    { family: 'database-restart', forMs: 500, lands: false, calls },
    { family: 'database-restart', forMs: 500, lands: true, calls },
  ],
  properties: [...coreWithout(leaseLasts), lostReplyCostsNothing, doubtClaimsNothing],
  deviations: 2,
}
