import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const restoredBackup: Scenario = {
  name: 'restored-backup',
  says: 'the database is restored from a backup while a worker sleeps through it, operators retry and cancel, and calls get lost',
  workers: 3,
  concurrency: 4,
  activeMs: 400_000,
  jobs: allWork,
  workload: (draw) => mixedWork(120, 400_000, draw),
  families: [
    'database-restored',
    'operator',
    'lost-request',
    'lost-reply',
    'late-request',
    'crash',
    'pause',
    'shutdown',
  ],
  swarm: false,
  looksEveryMs: 45_000,
}
