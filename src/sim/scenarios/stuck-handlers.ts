import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const stuckHandlers: Scenario = {
  name: 'stuck-handlers',
  says: 'handlers hang where the timers that were to end them do not fire: only a sweep can',
  workers: 2,
  concurrency: 4,
  activeMs: 600_000,
  jobs: allWork,
  workload: (draw) => mixedWork(40, 600_000, draw),
  families: ['timers', 'handler-hangs'],
  swarm: false,
  density: 6,
}
