import type { Topology } from '../topology.ts'
import { overCallMs, overLeaseMs, underCallMs } from './common.ts'
import { standard } from './standard.ts'

export const allLengths: Topology = {
  ...standard,
  name: 'all-lengths',
  says: 'the standard one, with faults of every length that decides something',
  faults: [
    ...standard.faults,
    { family: 'late-request', forMs: underCallMs },
    { family: 'pause', forMs: overCallMs, nodes: ['w1', 'w2'] },
    { family: 'crash', forMs: overLeaseMs, nodes: ['w1', 'w2'] },
    { family: 'database-restart', forMs: 500, lands: false },
  ],
}
