import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const drifting: Scenario = {
  name: 'drifting',
  says: 'node clocks that run fast or slow, over exclusive work, outages and cut connections',
  workers: 3,
  concurrency: 4,
  activeMs: 600_000,
  jobs: allWork,
  workload: (draw) => mixedWork(60, 600_000, draw),
  duties: [{ key: 'nightly-report', ttlMs: 15_000, everyMs: 15_000, workMs: 40_000 }],
  families: ['drift', 'outage-short', 'refused-connection', 'clock-skew', 'crash', 'handler-ignores-signal'],
  swarm: false,
}
