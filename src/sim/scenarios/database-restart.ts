import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const databaseRestarts: Scenario = {
  name: 'database-restart',
  says: 'the database restarts while work is in flight',
  workers: 3,
  concurrency: 4,
  activeMs: 300_000,
  jobs: allWork,
  workload: (draw) => mixedWork(60, 300_000, draw),
  families: ['database-restart', 'lost-reply'],
  swarm: false,
}
