import { PermanentFailure } from '../../engine/errors.ts'
import type { AttemptContext } from '../../engine/jobs/context.ts'
import { type HandledJob, defineJob } from '../../engine/jobs/definition.ts'
import { priorities } from '../../engine/jobs/job-settings.ts'
import type { Scenario, WorkStep } from './scenario.ts'

interface Brittle {
  readonly workMs: number
  /** It fails for good until it was replayed so often: by then what it needs is mended. */
  readonly mends: number
  /** Its failure is final by itself, not by its budget. */
  readonly permanent: boolean
}

async function run({ input, job, sleep }: AttemptContext<Brittle>): Promise<{ readonly replays: number }> {
  await sleep(input.workMs)
  const replays = job.lineage?.replays ?? 0
  if (replays >= input.mends) return { replays }
  throw input.permanent ? new PermanentFailure('the input cannot work yet') : new Error('upstream is down')
}

const backoff = { kind: 'constant', delayMs: 500, jitter: false } as const

/** Work that fails for good, until it has been replayed a few times. */
export const brittle: HandledJob<Brittle> = defineJob({
  name: 'brittle',
  retry: { maxAttempts: 2, maxEvictions: 2, backoff },
  leaseTtlMs: 30_000,
  timeoutMs: 60_000,
  run,
})

/** The same, and a lost lease is its end. */
export const frail: HandledJob<Brittle> = defineJob({
  name: 'frail',
  queue: 'frail',
  retry: { maxAttempts: 1, maxEvictions: 1, backoff },
  leaseTtlMs: 35_000,
  timeoutMs: 90_000,
  run,
})

/** No two of them state the same, so that what a replay leaves out shows. */
export function brittleWork(
  count: number,
  activeMs: number,
  draw: (bound: number, what: string, k: number) => number,
): WorkStep[] {
  const steps = Array.from({ length: count }, (_, k): WorkStep => {
    const mends = [0, 1, 1, 2, 3, 9][draw(6, 'mends', k)] ?? 0
    const workMs = 20 + draw(draw(5, 'long', k) === 0 ? 40_000 : 1_000, 'work', k)
    return {
      atMs: draw(activeMs, 'at', k),
      job: draw(3, 'kind', k) === 0 ? frail : brittle,
      input: { workMs, mends, permanent: draw(2, 'permanent', k) === 0 },
      options: {
        id: `j${k}`,
        priority: priorities[draw(4, 'band', k)] ?? 'normal',
        leaseTtlMs: 30_000 + draw(20_000, 'lease', k),
        // Some are given less time than they take, ever again.
        timeoutMs: draw(8, 'hurried', k) === 0 ? 10 + (workMs >> 1) : 45_000 + draw(60_000, 'timeout', k),
        keepMs: draw(1_000_000, 'keep', k),
        ...(draw(2, 'tenant', k) === 0 && { tenant: `t${draw(3, 'whose', k)}` }),
        ...(draw(2, 'keyed', k) === 0 && { keys: { order: `o${k}`, run: ['nightly', `r${k}`] } }),
        ...(draw(2, 'told', k) === 0 && { metadata: { from: `test ${k}` } }),
      },
    }
  })
  return steps.sort((a, b) => a.atMs - b.atMs)
}

export const deadLetters: Scenario = {
  name: 'dead-letters',
  says: 'work that fails for good is replayed and discarded, by several at once, while messages get lost and processes die of it',
  workers: 3,
  concurrency: 4,
  activeMs: 300_000,
  jobs: [brittle, frail],
  workload: (draw) => brittleWork(50, 250_000, draw),
  families: [
    'dead-letters',
    'operator',
    'lost-reply',
    'lost-request',
    'late-request',
    'crash',
    'pause',
    'outage-short',
  ],
  swarm: false,
  density: 3,
  looksEveryMs: 30_000,
}
