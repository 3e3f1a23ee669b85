import { families } from '../faults/index.ts'
import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

/** The one that speed is measured on: density and intervals as a small fleet has them. */
export const standard: Scenario = {
  name: 'standard',
  says: '3 workers, 100 jobs over 10 minutes, each seed with its own mix of faults',
  workers: 3,
  concurrency: 5,
  activeMs: 600_000,
  jobs: allWork,
  workload: (draw) => mixedWork(100, 600_000, draw),
  families: families.map(({ name }) => name),
  swarm: true,
}
