import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const sparse: Scenario = {
  name: 'sparse',
  says: 'hardly any work for half an hour: workers that are idle for minutes',
  workers: 2,
  concurrency: 2,
  activeMs: 1_800_000,
  jobs: allWork,
  workload: (draw) => mixedWork(12, 1_800_000, draw),
  families: ['lost-request', 'clock-skew'],
  swarm: false,
}
