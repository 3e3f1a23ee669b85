import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const clockJumps: Scenario = {
  name: 'clock-jump',
  says: 'the clock of the database jumps both ways, while workers die and jobs wait for their time',
  workers: 3,
  concurrency: 4,
  activeMs: 600_000,
  jobs: allWork,
  workload: (draw) => mixedWork(60, 600_000, draw),
  families: ['clock-jump', 'crash', 'lost-reply', 'partition'],
  swarm: false,
  density: 3,
}
