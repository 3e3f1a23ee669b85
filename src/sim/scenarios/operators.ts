import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const operators: Scenario = {
  name: 'operators',
  says: 'operators cancel, retry, move, hold, pause, list and count work, while messages get lost and workers die',
  workers: 3,
  concurrency: 4,
  activeMs: 600_000,
  jobs: allWork,
  workload: (draw) => mixedWork(80, 600_000, draw),
  families: ['operator', 'lost-reply', 'lost-request', 'crash', 'pause', 'outage-short'],
  swarm: false,
  density: 4,
  looksEveryMs: 45_000,
}
