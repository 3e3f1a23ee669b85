import { type HandledJob, defineJob } from '../../engine/jobs/definition.ts'
import { type Work, type Worked, longWork, mixedWork, work } from './jobs.ts'
import type { Scenario } from './scenario.ts'

/** The shortest lease that these intervals allow: 5 + 2 x 1 + 5 + 1 + 2 x 0.5 = 14 s of its 15 are spoken for. */
const intervals = {
  heartbeatMs: 10_000,
  heartbeatRetryMs: 1_000,
  sweepMs: 1_000,
  pollMs: 500,
  pollMsMax: 5_000,
  replyMs: 500,
  abandonMs: 3_000,
}

const hastyWork: HandledJob<Work, Work, Worked> = defineJob<Work, Work, Worked>({
  name: 'hasty-work',
  retry: { maxAttempts: 3, maxEvictions: 4, backoff: { kind: 'exponential', firstMs: 500, maxMs: 4_000 } },
  leaseTtlMs: 15_000,
  timeoutMs: 90_000,
  run: work.run,
})

export const tightMargin: Scenario = {
  name: 'tight-margin',
  says: 'leases as short as their intervals allow, beside long ones, and messages that get lost one at a time',
  workers: 3,
  concurrency: 4,
  activeMs: 300_000,
  jobs: [hastyWork, longWork],
  intervals,
  workload: (draw) =>
    mixedWork(60, 300_000, draw).map((step, k) => ({
      ...step,
      job: draw(4, 'job', k) === 0 ? longWork : hastyWork,
      input: { workMs: 5_000 + draw(50_000, 'longer', k), fails: 0, permanent: false },
    })),
  families: ['lost-request', 'lost-reply'],
  swarm: false,
  density: 3,
}
