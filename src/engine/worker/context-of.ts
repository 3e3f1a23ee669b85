import type { AttemptContext } from '../jobs/context.ts'
import { type Clock, sleep } from '../ports/clock.ts'
import type { ClaimedJob } from '../ports/store.ts'
import type { LazySignal } from './lazy-signal.ts'

/** What the handler of an attempt gets. */
export function contextOf(
  clock: Clock,
  job: ClaimedJob,
  input: unknown,
  interruption: LazySignal,
  lease: { readonly certain: boolean },
): AttemptContext<never> {
  return {
    input: input as never,
    job: { id: job.spec.id, kind: job.spec.kind, queue: job.spec.queue },
    attempt: {
      number: job.attempt,
      failures: job.failures,
      evictions: job.evictions,
      fence: fenceOf(job),
      get leaseCertain() {
        return lease.certain
      },
    },
    get signal() {
      return interruption.signal
    },
    sleep: (delayMs) => sleep(clock, delayMs, 'sleep', interruption.signal),
  }
}

/** Ordered as text: epochs and attempts are padded to the width of the largest safe integer. */
function fenceOf({ spec, epoch, attempt }: ClaimedJob): string {
  return `${spec.id}:${String(epoch).padStart(16, '0')}:${String(attempt).padStart(16, '0')}`
}
