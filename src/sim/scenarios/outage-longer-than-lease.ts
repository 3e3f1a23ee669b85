import { allWork, carefulWork, mixedWork, work } from './jobs.ts'
import type { Scenario } from './scenario.ts'

export const outageLongerThanLease: Scenario = {
  name: 'outage-longer-than-lease',
  says: 'outages that outlast every lease, while handlers run on and some workers die',
  workers: 3,
  concurrency: 5,
  activeMs: 600_000,
  jobs: allWork,
  workload: (draw) =>
    mixedWork(60, 600_000, draw).map((step, k) => ({
      ...step,
      job: step.job === work && draw(4, 'careful-too', k) === 0 ? carefulWork : step.job,
      input: { workMs: 10_000 + draw(100_000, 'longer', k), fails: 0, permanent: false },
    })),
  families: ['outage-short', 'outage-long', 'crash', 'shutdown'],
  swarm: false,
}
