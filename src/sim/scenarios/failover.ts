import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const failovers: Scenario = {
  name: 'failover',
  says: 'a database that refuses writes, has no room for new rows, and rolls calls back',
  workers: 3,
  concurrency: 4,
  activeMs: 300_000,
  jobs: allWork,
  workload: (draw) => mixedWork(60, 300_000, draw),
  families: ['read-only', 'disk-full', 'aborted', 'lost-reply', 'shutdown'],
  swarm: false,
}
