import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const misbehavingHandlers: Scenario = {
  name: 'misbehaving-handlers',
  says: 'handlers throw odd values, hang, ignore their signal, reject late, and kill their process',
  workers: 2,
  concurrency: 4,
  activeMs: 600_000,
  jobs: allWork,
  workload: (draw) => mixedWork(70, 600_000, draw),
  families: [
    'handler-throws-odd',
    'handler-hangs',
    'handler-ignores-signal',
    'handler-rejects-late',
    'handler-kills',
    'timers',
    'shutdown',
  ],
  swarm: false,
  density: 3,
}
