import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

const burstMs = 60_000

export const saturated: Scenario = {
  name: 'saturated',
  says: 'bursts of more work than there are slots, in several bands',
  workers: 2,
  concurrency: 2,
  activeMs: 300_000,
  jobs: allWork,
  workload: (draw) =>
    mixedWork(90, 300_000, draw).map((step) => ({
      ...step,
      // All that comes within a minute comes within its first second.
      atMs: Math.floor(step.atMs / burstMs) * burstMs + (step.atMs % 1_000),
    })),
  families: ['shutdown', 'lost-reply', 'crash'],
  swarm: false,
}
