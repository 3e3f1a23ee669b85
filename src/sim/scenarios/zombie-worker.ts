import { type Work, allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const zombieWorker: Scenario = {
  name: 'zombie-worker',
  says: 'workers that stand still past their lease and go on, or die and return under the same name',
  workers: 3,
  concurrency: 4,
  activeMs: 600_000,
  jobs: allWork,
  workload: (draw) =>
    mixedWork(80, 600_000, draw).map((step, k) => ({
      ...step,
      input: { ...(step.input as Work), tells: draw(2, 'tells-on', k) === 0 },
    })),
  families: ['pause', 'crash', 'lost-reply', 'late-request', 'shutdown'],
  swarm: false,
}
