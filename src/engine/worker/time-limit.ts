import { AttemptTimeout } from '../errors.ts'
import type { Timer } from '../ports/clock.ts'
import type { ClaimedJob } from '../ports/store.ts'
import type { WorkerParts } from './parts.ts'

/** The bound of one attempt: at its timeout the handler is asked to end, and `abandonMs` later is waited for no more. */
export interface TimeLimit {
  start(): void
  cancel(): void
}

export interface TimeLimitEvents {
  readonly timedOut: (reason: AttemptTimeout) => void
  readonly abandoned: (reason: AttemptTimeout) => void
}

export function createTimeLimit(
  { clock, intervals }: Pick<WorkerParts, 'clock' | 'intervals'>,
  { spec }: ClaimedJob,
  { timedOut, abandoned }: TimeLimitEvents,
): TimeLimit {
  let timer: Timer | null = null

  function onTimeout(): void {
    const reason = new AttemptTimeout(`attempt of job ${spec.id} exceeded ${spec.timeoutMs} ms`)
    timedOut(reason)
    timer = clock.timer(intervals.abandonMs, 'abandon', () => abandoned(reason))
  }

  return {
    start: () => {
      timer = clock.timer(spec.timeoutMs, 'timeout', onTimeout)
    },
    cancel: () => timer?.cancel(),
  }
}
