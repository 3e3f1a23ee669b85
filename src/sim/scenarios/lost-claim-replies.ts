import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const lostClaimReplies: Scenario = {
  name: 'lost-claim-replies',
  says: 'claims, settles and heartbeats whose requests or replies get lost, and nothing else',
  workers: 3,
  concurrency: 4,
  activeMs: 300_000,
  jobs: allWork,
  workload: (draw) => mixedWork(80, 300_000, draw),
  families: ['lost-request', 'lost-reply', 'late-request'],
  swarm: false,
}
