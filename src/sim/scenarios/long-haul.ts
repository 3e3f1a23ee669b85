import { type HandledJob, defineJob } from '../../engine/jobs/definition.ts'
import type { Scenario, WorkStep } from './scenario.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000

interface Haul {
  readonly days: number
}

/** Sleeps for weeks under a lease and a timeout of months: every timer of it is longer than Node's longest. */
const haul: HandledJob<Haul, Haul, Haul> = defineJob<Haul, Haul, Haul>({
  name: 'haul',
  retry: { maxAttempts: 2, maxEvictions: 2, backoff: { kind: 'constant', delayMs: 30 * dayMs } },
  leaseTtlMs: 30 * dayMs,
  timeoutMs: 60 * dayMs,
  run: async ({ input, attempt, sleep }) => {
    await sleep(input.days * dayMs)
    if (attempt.number === 1 && input.days % 5 === 0) throw new Error('not this time')
    return input
  },
})

export const longHaul: Scenario = {
  name: 'long-haul',
  says: 'jobs whose delays, leases and timeouts are weeks: longer than a timer of Node can wait',
  workers: 2,
  concurrency: 4,
  activeMs: 600_000,
  jobs: [haul],
  intervals: { sweepMs: 6 * hourMs, pollMs: hourMs, pollMsMax: dayMs, heartbeatMs: 10 * dayMs },
  workload: (draw): WorkStep[] =>
    Array.from({ length: 8 }, (_, k) => ({
      atMs: draw(600_000, 'at', k),
      job: haul,
      input: { days: draw(70, 'days', k) },
      options: { id: `j${k}`, delayMs: ([0, 24.8, 30, 60][draw(4, 'delay', k)] as number) * dayMs },
    })).sort((a, b) => a.atMs - b.atMs),
  families: ['crash', 'lost-reply', 'shutdown'],
  swarm: false,
}
