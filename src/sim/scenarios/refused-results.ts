import { waves } from './crowded.ts'
import { allWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const refusedResults: Scenario = {
  name: 'refused-results',
  says: 'jobs that end together and are settled together, some with a result that the store will not take',
  workers: 2,
  concurrency: 12,
  activeMs: 240_000,
  jobs: allWork,
  workload: (draw) => waves(100, draw),
  families: ['handler-returns-unstorable'],
  swarm: false,
  density: 8,
}
