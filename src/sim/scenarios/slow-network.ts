import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const slowNetwork: Scenario = {
  name: 'slow-network',
  says: 'answers that take seconds, a database that stands still, machines that cannot connect, busy event loops',
  workers: 3,
  concurrency: 4,
  activeMs: 300_000,
  jobs: allWork,
  workload: (draw) => mixedWork(60, 300_000, draw),
  families: ['slow-reply', 'stall', 'refused-connection', 'blocked-loop', 'timers', 'pause-on-call'],
  swarm: false,
  density: 2,
}
