import type { AttemptContext } from '../../engine/jobs/context.ts'
import { type HandledJob, defineJob } from '../../engine/jobs/definition.ts'
import type { Scenario, WorkStep } from './scenario.ts'

interface Talk {
  /** How often it says something, how many lines each time, and how long it works in between. */
  readonly turns: number
  readonly lines: number
  readonly turnMs: number
  /** How many attempts fail before one succeeds. */
  readonly fails: number
}

interface Said {
  /** Which attempt it was: another one's result is another. */
  readonly by: string
}

/** No two lines of a job are the same. */
async function talk({ input, attempt, log, sleep }: AttemptContext<Talk>): Promise<Said> {
  let said = 0
  for (let turn = 0; turn < input.turns; turn++) {
    for (let k = 0; k < input.lines; k++) log.info(`attempt ${attempt.number} says ${said++}`, { turn })
    await sleep(input.turnMs)
  }
  if (attempt.failures < input.fails) {
    log.error(`attempt ${attempt.number} fails`)
    throw new Error('not this time')
  }
  log(`attempt ${attempt.number} is done`)
  return { by: `attempt ${attempt.number}` }
}

export const chatter: HandledJob<Talk, Talk, Said> = defineJob<Talk, Talk, Said>({
  name: 'chatter',
  retry: { maxAttempts: 3, maxEvictions: 3, backoff: { kind: 'constant', delayMs: 500 } },
  leaseTtlMs: 30_000,
  timeoutMs: 120_000,
  run: talk,
})

const awaitedMs = 3_600_000

export const chatty: Scenario = {
  name: 'chatty',
  says: 'handlers that log while messages get lost and processes die, and producers that wait for their results',
  workers: 3,
  concurrency: 4,
  activeMs: 240_000,
  jobs: [chatter],
  workload: (draw) => talks(40, 240_000, draw),
  talks: true,
  families: [
    'lost-request',
    'lost-reply',
    'late-request',
    'outage-short',
    'crash',
    'pause',
    'shutdown',
    'operator',
  ],
  swarm: false,
  density: 3,
}

export function talks(
  count: number,
  activeMs: number,
  draw: (bound: number, what: string, k: number) => number,
): WorkStep[] {
  const steps = Array.from({ length: count }, (_, k): WorkStep => {
    // One of them says more than a log keeps.
    const much = k === 0
    const slow = draw(4, 'slow', k) === 0
    return {
      atMs: draw(activeMs >> (much ? 1 : 0), 'at', k),
      job: chatter,
      input: {
        turns: much ? 12 : 1 + draw(5, 'turns', k),
        lines: much ? 180 : draw(4, 'lines', k),
        turnMs: much ? 500 : 20 + draw(slow ? 12_000 : 1_500, 'turn', k),
        fails: draw(3, 'fails', k) === 0 ? 1 + draw(3, 'how-often', k) : 0,
      },
      options: {
        id: `c${k}`,
        ...(draw(12, 'hurried', k) === 0 && { timeoutMs: 1_000 + draw(4_000, 'timeout', k) }),
      },
      ...(draw(3, 'awaited', k) > 0 && { awaitedMs: draw(8, 'short', k) === 0 ? 2_000 : awaitedMs }),
    }
  })
  return steps.sort((a, b) => a.atMs - b.atMs)
}
