import { holdHolds } from '../../../properties/hold-holds.ts'
import { singleTerminalState } from '../../../properties/single-terminal-state.ts'
import type { Topology } from '../topology.ts'
import { coreWithout, intervals, nap, overCallMs, underCallMs } from './common.ts'

const calls = ['claims.claim', 'claims.recover', 'control.set']

export const holdAgainstClaim: Topology = {
  name: 'hold-against-claim',
  says: 'an operator holds all claiming, and lets it go, while claims are in flight',
  workers: 2,
  sweepers: 0,
  concurrency: 1,
  intervals,
  jobs: [nap],
  work: [
    { atMs: 0, job: nap, input: { forMs: 3_000 }, options: { id: 'j1' } },
    { atMs: 6_000, job: nap, input: { forMs: 3_000 }, options: { id: 'j2' } },
  ],
  orders: [
    { atMs: 7_000, command: 'hold' },
    { atMs: 12_000, command: 'resume' },
  ],
  horizonMs: 32_000,
  faults: [
    { family: 'operator', order: { command: 'hold' }, calls },
    { family: 'operator', order: { command: 'resume' }, calls },
    { family: 'late-request', forMs: underCallMs, calls },
    { family: 'late-request', forMs: overCallMs, calls },
    { family: 'lost-reply', calls },
    { family: 'crash', forMs: underCallMs, calls: ['claims.claim'] },
  ],
  properties: [...coreWithout(singleTerminalState), holdHolds],
  deviations: 2,
}
