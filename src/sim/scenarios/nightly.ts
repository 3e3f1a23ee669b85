import { type HandledJob, defineJob } from '../../engine/jobs/definition.ts'
import type { ScheduleOptions } from '../../engine/schedules/schedules.ts'
import type { ScheduleStep } from '../schedules.ts'
import { allWork, mixedWork } from './jobs.ts'
import type { Scenario } from './scenario.ts'

const minuteMs = 60_000
const activeMs = 30 * minuteMs

/** What a schedule makes: short, and now and then too much for the first attempt. */
const beat: HandledJob<null> = defineJob<null>({
  name: 'beat',
  retry: { maxAttempts: 3, maxEvictions: 3, backoff: { kind: 'constant', delayMs: 1_000 } },
  leaseTtlMs: 30_000,
  timeoutMs: 60_000,
  run: async ({ job, attempt, sleep }) => {
    await sleep(500)
    if (attempt.failures === 0 && job.id.includes(':07:')) throw new Error('not this time')
  },
})

const job = { job: beat, input: null } as const
const eachMinute: ScheduleOptions = { ...job, cron: '* * * * *' }
/** Of a zone half an hour beside UTC, in which four minutes fall on others. */
const elsewhere: ScheduleOptions = {
  ...job,
  cron: '*/4 * * * *',
  timeZone: 'Asia/Kolkata',
  catchUp: { all: 3 },
}
const interval: ScheduleOptions = { ...job, everyMs: 97_000, catchUp: 'skip' }
const switched: ScheduleOptions = { ...job, cron: '*/2 * * * *', catchUp: 'skip' }

const schedules: readonly ScheduleStep[] = [
  { atMs: 200, key: 'each-minute', does: eachMinute },
  { atMs: 400, key: 'elsewhere', does: elsewhere },
  { atMs: 600, key: 'interval', does: interval },
  { atMs: 800, key: 'switched', does: switched },
  { atMs: 5 * minuteMs, key: 'each-minute', does: eachMinute },
  { atMs: 8 * minuteMs - 100, key: 'switched', does: 'pause' },
  { atMs: 13 * minuteMs, key: 'switched', does: 'resume' },
  { atMs: 16 * minuteMs, key: 'elsewhere', does: 'remove' },
  { atMs: 17 * minuteMs, key: 'elsewhere', does: elsewhere },
  { atMs: 20 * minuteMs, key: 'switched', does: { ...switched, cron: '*/3 * * * *' } },
  { atMs: 24 * minuteMs - 50, key: 'interval', does: 'pause' },
  { atMs: 24 * minuteMs, key: 'interval', does: 'resume' },
]

export const nightly: Scenario = {
  name: 'nightly',
  says: 'schedules of minutes, while the engines that fire them die, stall, are cut off and have wrong clocks',
  workers: 3,
  concurrency: 4,
  activeMs,
  jobs: [...allWork, beat],
  // The last one keeps the run going until what was missed has been made up for.
  workload: (draw) => [
    ...mixedWork(20, activeMs, draw),
    {
      atMs: activeMs - minuteMs,
      job: beat,
      input: null,
      options: { id: 'last', delayMs: 3 * minuteMs },
    },
  ],
  schedules,
  families: [
    'crash',
    'shutdown',
    'pause',
    'pause-on-call',
    'blocked-loop',
    'clock-skew',
    'drift',
    'timers',
    'outage-short',
    'outage-long',
    'database-restart',
    'clock-jump',
    'lost-request',
    'lost-reply',
    'late-request',
    'slow-reply',
    'refused-connection',
  ],
  swarm: true,
}
