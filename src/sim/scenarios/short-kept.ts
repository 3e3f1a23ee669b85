import { defineJob } from '../../engine/jobs/definition.ts'
import { carefulWork, mixedWork, work } from './jobs.ts'
import type { Work, Worked } from './jobs.ts'
import type { Scenario, WorkStep } from './scenario.ts'

type Draw = (bound: number, what: string, k: number) => number

/** Work that is not kept at all unless its producer says so. */
const briefWork = defineJob<Work, Work, Worked>({
  name: 'brief-work',
  retry: { maxAttempts: 2, maxEvictions: 3, backoff: { kind: 'constant', delayMs: 1_000 } },
  timeoutMs: 120_000,
  keepMs: 0,
  run: async (context) => {
    // Nothing is there for a first attempt to read: not even where another job had the id before.
    if (context.input.resumes) await context.checkpoint('doneMs').catch(() => {})
    context.log.info(`attempt ${context.attempt.number} begins`)
    return work.run(context)
  },
})

const keptMs = [0, 0, 1_000, 10_000, 60_000, 180_000]

/** Each is kept for a while of its own; one in four is sent once more, often when it is over and gone. */
function kept(steps: readonly WorkStep[], draw: Draw): WorkStep[] {
  return steps
    .flatMap((step, k): WorkStep[] => {
      const keepMs = keptMs[draw(keptMs.length, 'kept', k)] ?? 0
      const options = { ...step.options, keepMs }
      const input = { ...(step.input as Work), resumes: draw(3, 'resumes', k) === 0 }
      const mine = { ...step, input, options, job: step.job === carefulWork ? carefulWork : briefWork }
      const again = { ...mine, again: true, atMs: step.atMs + draw(120_000, 'again', k) }
      return draw(4, 'how', k) === 0 ? [mine, again] : [mine]
    })
    .sort((a, b) => a.atMs - b.atMs)
}

export const shortKept: Scenario = {
  name: 'short-kept',
  says: 'jobs that are kept for seconds or not at all, removed while operators retry and replay, replies get lost and clocks jump',
  workers: 3,
  concurrency: 4,
  activeMs: 400_000,
  jobs: [briefWork, carefulWork],
  retention: { everyMs: 5_000, deadLetterMs: 60_000 },
  workload: (draw) => kept(mixedWork(60, 400_000, draw), draw),
  families: [
    'operator',
    'dead-letters',
    'lost-reply',
    'lost-request',
    'late-request',
    'crash',
    'pause',
    'clock-jump',
  ],
  talks: true,
  swarm: false,
  density: 2,
}
