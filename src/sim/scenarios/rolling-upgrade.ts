import { type HandledJob, defineJob } from '../../engine/jobs/definition.ts'
import type { ScheduleOptions } from '../../engine/schedules/schedules.ts'
import { brittle, brittleWork, frail } from './dead-letters.ts'
import type { Scenario } from './scenario.ts'

const activeMs = 300_000

const tick: HandledJob<null> = defineJob<null>({
  name: 'tick',
  retry: { maxAttempts: 3, maxEvictions: 3, backoff: { kind: 'constant', delayMs: 1_000 } },
  leaseTtlMs: 30_000,
  timeoutMs: 60_000,
  run: ({ sleep }) => sleep(200),
})

/** What the two releases have in their code differs, so that each start of the other one puts it anew. */
function polled(newer: boolean): ScheduleOptions {
  return { job: tick, input: null, everyMs: 25_000, keepMs: newer ? 2_000_000 : 1_000_000 }
}
const still: ScheduleOptions = { job: tick, input: null, cron: '* * * * *' }

export const rollingUpgrade: Scenario = {
  name: 'rolling-upgrade',
  says: 'two releases on one store while workers are replaced by one of the other, and back: what the newer one adds, the older one does not know',
  workers: 4,
  concurrency: 3,
  activeMs,
  jobs: [brittle, frail, tick],
  // Some of it is for a sweep to give a place in the queue.
  workload: (draw) =>
    brittleWork(40, 250_000, draw).map((step, k) => ({ ...step, undispatched: k % 7 === 0 })),
  rolling: {
    puts: (newer) => [
      { key: 'polled', does: polled(newer) },
      { key: 'still', does: still },
    ],
  },
  schedules: [
    { atMs: 100, key: 'clients', does: { ...polled(true), everyMs: 40_000 } },
    { atMs: 90_000, key: 'polled', does: 'pause' },
    { atMs: 130_000, key: 'polled', does: 'resume' },
    { atMs: 180_000, key: 'clients', does: { ...polled(false), everyMs: 35_000 } },
  ],
  families: [
    'shutdown',
    'crash',
    'dead-letters',
    'operator',
    'lost-reply',
    'lost-request',
    'late-request',
    'pause',
    'outage-short',
  ],
  swarm: false,
  density: 3,
  looksEveryMs: 30_000,
}
