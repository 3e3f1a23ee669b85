import { PermanentFailure } from '../../engine/errors.ts'
import { type HandledJob, defineJob } from '../../engine/jobs/definition.ts'
import type { WorkStep } from './scenario.ts'

interface Work {
  /** How long one attempt takes. */
  readonly workMs: number
  /** How many attempts fail before one succeeds. */
  readonly fails: number
  /** The failure is for good. */
  readonly permanent: boolean
}

interface Worked {
  readonly workedMs: number
}

const stepMsMax = 10_000

/** Work that takes a while and sometimes fails. */
export const work: HandledJob<Work, Work, Worked> = defineJob<Work, Work, Worked>({
  name: 'work',
  retry: { maxAttempts: 3, maxEvictions: 3, backoff: { kind: 'exponential', firstMs: 1_000, maxMs: 20_000 } },
  leaseTtlMs: 30_000,
  timeoutMs: 120_000,
  run: async ({ input, attempt, sleep }) => {
    // In steps: a process that stands still does not get on with its work meanwhile.
    for (let leftMs = input.workMs; leftMs > 0; leftMs -= stepMsMax) await sleep(Math.min(leftMs, stepMsMax))
    if (attempt.failures >= input.fails) return { workedMs: input.workMs }
    throw input.permanent ? new PermanentFailure('the input can never work') : new Error('not this time')
  },
})

/** The same under a longer lease of its own. */
export const longWork: HandledJob<Work, Work, Worked> = defineJob<Work, Work, Worked>({
  name: 'long-work',
  queue: 'long',
  priority: 'high',
  retry: { maxAttempts: 2, maxEvictions: 2, backoff: { kind: 'constant', delayMs: 3_000, jitter: true } },
  leaseTtlMs: 45_000,
  timeoutMs: 300_000,
  run: work.run,
})

/** The same for a job that may lose its lease but once. */
export const fragileWork: HandledJob<Work, Work, Worked> = defineJob<Work, Work, Worked>({
  name: 'fragile-work',
  retry: { maxEvictions: 1 },
  timeoutMs: 120_000,
  run: work.run,
})

/**
 * `count` jobs arriving evenly at random over `activeMs`: mostly short, some longer than a lease, some failing,
 * one in eight delayed.
 */
export function mixedWork(
  count: number,
  activeMs: number,
  draw: (bound: number, what: string, k: number) => number,
): WorkStep[] {
  const steps: WorkStep[] = []
  for (let k = 0; k < count; k++) {
    const kind = draw(10, 'kind', k)
    const dice = draw(100, 'length', k)
    const workMs = 20 + draw(dice < 60 ? 2_000 : dice < 90 ? 15_000 : 70_000, 'work', k)
    const failing = draw(100, 'failing', k)
    steps.push({
      atMs: draw(activeMs, 'at', k),
      job: kind === 0 ? longWork : kind === 1 ? fragileWork : work,
      input: {
        workMs,
        fails: failing < 80 ? 0 : failing < 92 ? 1 : failing < 97 ? 5 : 1,
        permanent: failing >= 97,
      },
      options: { id: `j${k}`, delayMs: draw(8, 'delayed', k) === 0 ? draw(40_000, 'delay', k) : 0 },
    })
  }
  return steps.sort((a, b) => a.atMs - b.atMs)
}
