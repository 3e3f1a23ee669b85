import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const exclusiveWork: Scenario = {
  name: 'exclusive-work',
  says: 'work that one process at a time may do, and a leader, while processes stall and are cut off',
  workers: 3,
  concurrency: 4,
  activeMs: 600_000,
  jobs: allWork,
  workload: (draw) => mixedWork(20, 600_000, draw),
  duties: [
    { key: 'nightly-report', ttlMs: 15_000, everyMs: 15_000, workMs: 40_000 },
    { key: 'clockwork', ttlMs: 12_000, workMs: 90_000, leads: true },
  ],
  families: [
    'pause',
    'blocked-loop',
    'crash',
    'shutdown',
    'refused-connection',
    'outage-short',
    'slow-reply',
    'lost-reply',
    'clock-jump',
  ],
  swarm: false,
  density: 2,
}
