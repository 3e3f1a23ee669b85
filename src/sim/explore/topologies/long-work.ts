import { leaseCertainty } from '../../../properties/lease-certainty.ts'
import { postOutageGrace } from '../../../properties/post-outage-grace.ts'
import { singleTerminalState } from '../../../properties/single-terminal-state.ts'
import type { Topology } from '../topology.ts'
import { coreWithout, intervals, nap, overCallMs } from './common.ts'

const renewals = { calls: ['claims.renew'], nodes: ['w1'] }

export const longWork: Topology = {
  name: 'long-work',
  says: 'one worker holds two claims for longer than a lease, and some of its heartbeats are lost',
  workers: 1,
  sweepers: 1,
  concurrency: 2,
  intervals,
  jobs: [nap],
  work: [
    { atMs: 0, job: nap, input: { forMs: 45_000 }, options: { id: 'j1' } },
    { atMs: 8_000, job: nap, input: { forMs: 45_000 }, options: { id: 'j2' } },
  ],
  horizonMs: 62_000,
  faults: [
    { family: 'lost-request', ...renewals },
    { family: 'lost-reply', ...renewals },
    { family: 'late-request', forMs: overCallMs, ...renewals },
    { family: 'crash', forMs: 2_000, nodes: ['w1'], calls: ['claims.renew'] },
    { family: 'database-restart', forMs: 500, lands: false, calls: ['claims.renew'] },
  ],
  properties: [...coreWithout(singleTerminalState), postOutageGrace, leaseCertainty],
  deviations: 2,
}
