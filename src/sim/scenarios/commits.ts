import type { AttemptContext } from '../../engine/jobs/context.ts'
import { type HandledJob, defineJob } from '../../engine/jobs/definition.ts'
import { priorities } from '../../engine/jobs/job-settings.ts'
import type { Scenario, WorkStep } from './scenario.ts'

interface Transfer {
  readonly amount: number
  /** How long the work before the transaction takes, and what is left to do after it. */
  readonly beforeMs: number
  readonly afterMs: number
  /** How many transactions throw before one does not. */
  readonly fails: number
  /** What the handler does afterwards, which changes nothing any more. */
  readonly afterwards: 'returns' | 'throws' | 'does not wait'
}

interface Moved {
  readonly moved: number
}

/** Synchronous, and without a word to its store, so that it is one and the same on every store. */
async function moveMoney({ input, attempt, commit, sleep }: AttemptContext<Transfer>): Promise<Moved> {
  await sleep(input.beforeMs)
  const committed = commit((): Moved => {
    if (attempt.failures < input.fails) throw new Error('the account is locked')
    return { moved: input.amount }
  })
  if (input.afterwards === 'does not wait') {
    committed.catch(() => {})
    return { moved: -1 }
  }
  const moved = await committed
  await sleep(input.afterMs)
  if (input.afterwards === 'throws') throw new Error('too late to change anything')
  return moved
}

/** A commit whose handler does not wait for it may come to nothing unheard: then -1 is what it returned. */
const transfer: HandledJob<Transfer, Transfer, Moved> = defineJob<Transfer, Transfer, Moved>({
  name: 'transfer',
  retry: { maxAttempts: 3, maxEvictions: 3, backoff: { kind: 'exponential', firstMs: 1_000, maxMs: 20_000 } },
  leaseTtlMs: 30_000,
  timeoutMs: 60_000,
  run: moveMoney,
})

const ends = ['returns', 'returns', 'returns', 'throws', 'does not wait'] as const

export const commits: Scenario = {
  name: 'commits',
  says: 'jobs that end in one transaction with what they write, while replies get lost and processes die',
  workers: 3,
  concurrency: 4,
  activeMs: 300_000,
  jobs: [transfer],
  workload: (draw) => transfers(60, 300_000, draw),
  commits: true,
  families: [
    'lost-request',
    'lost-reply',
    'late-request',
    'slow-reply',
    'aborted',
    'database-restart',
    'outage-short',
    'crash',
    'pause',
    'pause-on-call',
    'shutdown',
    'operator',
  ],
  swarm: true,
}

function transfers(
  count: number,
  activeMs: number,
  draw: (bound: number, what: string, k: number) => number,
): WorkStep[] {
  const steps = Array.from({ length: count }, (_, k): WorkStep => {
    const slow = draw(4, 'slow', k) === 0
    return {
      atMs: draw(activeMs, 'at', k),
      job: transfer,
      input: {
        amount: 1 + draw(1_000, 'amount', k),
        beforeMs: 20 + draw(slow ? 40_000 : 3_000, 'before', k),
        afterMs: draw(3, 'goes-on', k) === 0 ? draw(20_000, 'after', k) : 0,
        fails: draw(6, 'fails', k) === 0 ? 1 + draw(3, 'how-often', k) : 0,
        afterwards: ends[draw(ends.length, 'end', k)] ?? 'returns',
      },
      options: {
        id: `t${k}`,
        priority: priorities[draw(4, 'band', k)] ?? 'normal',
        ...(draw(12, 'hurried', k) === 0 && { timeoutMs: 2_000 + draw(3_000, 'timeout', k) }),
      },
    }
  })
  return steps.sort((a, b) => a.atMs - b.atMs)
}
