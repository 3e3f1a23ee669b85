import { chatter, talks } from './chatty.ts'
import { type Work, allWork, mixedWork } from './jobs.ts'
import type { Scenario, WorkStep } from './scenario.ts'

export const restoredBackup: Scenario = {
  name: 'restored-backup',
  says: 'the database is restored from a backup while a worker sleeps through it, operators retry and cancel, and calls get lost',
  workers: 3,
  concurrency: 4,
  activeMs: 400_000,
  jobs: [...allWork, chatter],
  workload: (draw) =>
    [...longWork(80, 380_000, draw), ...talks(20, 380_000, draw)].sort((a, b) => a.atMs - b.atMs),
  talks: true,
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

/** Half of it so long that whoever falls asleep has some of it in his hands. */
function longWork(
  count: number,
  activeMs: number,
  draw: (bound: number, what: string, k: number) => number,
): WorkStep[] {
  return mixedWork(count, activeMs, draw).map((step, k) => {
    const long = draw(2, 'longer', k) === 0
    const input = step.input as Work
    const workMs = long ? 8_000 + draw(40_000, 'longer-work', k) : input.workMs
    return { ...step, input: { ...input, workMs, tells: draw(2, 'tells-on', k) === 0 } }
  })
}
