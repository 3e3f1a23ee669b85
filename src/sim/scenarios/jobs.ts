import { PermanentFailure, StoreUnavailable } from '../../engine/errors.ts'
import type { AttemptContext } from '../../engine/jobs/context.ts'
import { type HandledJob, type JobDescription, defineJob } from '../../engine/jobs/definition.ts'
import { priorities } from '../../engine/jobs/job-settings.ts'
import type { WorkStep } from './scenario.ts'

export interface Work {
  /** How long one attempt takes. */
  readonly workMs: number
  /** How many attempts fail before one succeeds. */
  readonly fails: number
  /** The failure is for good. */
  readonly permanent: boolean
  /** Keeps a checkpoint between its steps, and goes on from it. */
  readonly resumes?: boolean
  /** Says how far it is. */
  readonly tells?: boolean
}

export interface Worked {
  readonly workedMs: number
}

const stepMsMax = 10_000

/**
 * Works in steps, because a process that stands still does not get on with its work meanwhile; a checkpoint
 * that the store does not take is not worth the work.
 */
async function inSteps({ input, attempt, sleep, checkpoint, progress }: AttemptContext<Work>): Promise<void> {
  const { workMs, resumes = false, tells = false } = input
  let doneMs = resumes && attempt.number > 1 ? await bestEffort(checkpoint('doneMs')) : 0
  while (doneMs < workMs) {
    const stepMs = Math.min(workMs - doneMs, stepMsMax)
    await sleep(stepMs)
    doneMs += stepMs
    if (resumes) await bestEffort(checkpoint('doneMs', doneMs))
    if (tells) await bestEffort(progress((100 * doneMs) / workMs, 'at work'))
  }
}

async function bestEffort(answer: Promise<unknown>): Promise<number> {
  try {
    const known = await answer
    return typeof known === 'number' ? known : 0
  } catch (error) {
    if (error instanceof StoreUnavailable) return 0
    throw error
  }
}

/** Work that takes a while and sometimes fails. */
export const work: HandledJob<Work, Work, Worked> = defineJob<Work, Work, Worked>({
  name: 'work',
  retry: { maxAttempts: 3, maxEvictions: 3, backoff: { kind: 'exponential', firstMs: 1_000, maxMs: 20_000 } },
  leaseTtlMs: 30_000,
  timeoutMs: 120_000,
  run: async (context) => {
    const { input, attempt } = context
    await inSteps(context)
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

/** The same, ended when its lease is uncertain: what it does outside must never be done twice at once. */
export const carefulWork: HandledJob<Work, Work, Worked> = defineJob<Work, Work, Worked>({
  name: 'careful-work',
  retry: { maxAttempts: 3, maxEvictions: 3, backoff: { kind: 'linear', firstMs: 1_000, maxMs: 5_000 } },
  leaseTtlMs: 30_000,
  timeoutMs: 120_000,
  onUncertainLease: 'abort',
  run: work.run,
})

/** The same for a job that may lose its lease but once. */
export const fragileWork: HandledJob<Work, Work, Worked> = defineJob<Work, Work, Worked>({
  name: 'fragile-work',
  retry: { maxEvictions: 1 },
  timeoutMs: 120_000,
  run: work.run,
})

export const allWork: readonly JobDescription[] = [work, longWork, carefulWork, fragileWork]

/**
 * `count` jobs arriving evenly at random over `activeMs`: mostly short, some longer than a lease, some failing,
 * one in eight delayed, one in six in a band of its own, and a few given less time than they take.
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
    const careful = draw(12, 'careful', k) === 0
    steps.push({
      atMs: draw(activeMs, 'at', k),
      job: kind === 0 ? longWork : kind === 1 ? fragileWork : careful ? carefulWork : work,
      input: {
        resumes: workMs > stepMsMax ? draw(2, 'resumes', k) === 0 : draw(24, 'resumes', k) === 0,
        tells: draw(16, 'tells', k) === 0,
        workMs,
        fails: failing < 80 ? 0 : failing < 92 ? 1 : failing < 97 ? 5 : 1,
        permanent: failing >= 97,
      },
      options: {
        id: `j${k}`,
        delayMs: draw(8, 'delayed', k) === 0 ? draw(40_000, 'delay', k) : 0,
        ...(draw(6, 'banded', k) === 0 && { priority: priorities[draw(4, 'band', k)] ?? 'normal' }),
        ...(draw(60, 'hurried', k) === 0 && { timeoutMs: 10 + (workMs >> 1) }),
      },
    })
  }
  return steps.sort((a, b) => a.atMs - b.atMs)
}
