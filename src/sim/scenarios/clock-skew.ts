import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const clockSkewed: Scenario = {
  name: 'clock-skew',
  says: 'node clocks off by up to an hour, with crashes and pauses that make leases lapse',
  workers: 3,
  concurrency: 4,
  activeMs: 300_000,
  jobs: allWork,
  workload: (draw) => mixedWork(60, 300_000, draw),
  families: ['clock-skew', 'crash', 'pause', 'shutdown'],
  swarm: false,
}
