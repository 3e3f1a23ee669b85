import type { AttemptContext, AttemptInfo, Checkpoint, Commit, Log } from '../jobs/context.ts'
import { timelineOf } from '../jobs/transitions.ts'
import { sleep } from '../ports/clock.ts'
import type { ClaimedJob } from '../ports/store.ts'
import { createCheckpoint } from './checkpoints.ts'
import type { WorkerParts } from './parts.ts'
import { createProgress } from './progress.ts'
import type { Reasons } from './reasons.ts'
import { type TimerGroup, createTimerGroup } from './timer-group.ts'

/** An attempt, as its handler sees it. */
export interface Executed {
  readonly job: ClaimedJob
  readonly reasons: Reasons
  leaseCertain(): boolean
  commit(): Commit
  log(): Log
}

/**
 * What the handler of an attempt gets. All that it writes while it runs is fenced. Every member is made when it is
 * first looked at: most handlers look at few.
 */
export class Context implements AttemptContext<never> {
  readonly input: never
  readonly #parts: WorkerParts
  readonly #attempt: Executed
  #job: AttemptContext<never>['job'] | null = null
  #info: Info | null = null
  #checkpoint: Checkpoint | null = null
  #commit: Commit | null = null
  #timers: TimerGroup | null = null
  #ended = false

  constructor(parts: WorkerParts, attempt: Executed, input: never) {
    this.#parts = parts
    this.#attempt = attempt
    this.input = input
  }

  get job(): AttemptContext<never>['job'] {
    const { id, kind, queue, tenant, keys, lineage, metadata, traceparent } = this.#attempt.job.spec
    return (this.#job ??= { id, kind, queue, tenant, keys, lineage, metadata: metadata ?? {}, traceparent })
  }

  get attempt(): AttemptInfo {
    return (this.#info ??= new Info(this.#attempt))
  }

  get signal(): AbortSignal {
    return this.#attempt.reasons.signal()
  }

  get progress(): AttemptContext<never>['progress'] {
    return createProgress(this.#parts, this.#attempt.job)
  }

  get checkpoint(): Checkpoint {
    return (this.#checkpoint ??= createCheckpoint(this.#parts, this.#attempt.job))
  }

  get log(): Log {
    return this.#attempt.log()
  }

  get commit(): Commit {
    return (this.#commit ??= this.#attempt.commit())
  }

  get sleep(): AttemptContext<never>['sleep'] {
    return (delayMs) => {
      this.#timers ??= createTimerGroup(this.#parts.clock)
      if (this.#ended) this.#timers.cancel()
      return sleep(this.#timers.clock, delayMs, 'sleep', this.signal)
    }
  }

  /** The handler has returned: what it still waits for, or would wait for, keeps nothing alive. */
  end(): void {
    this.#ended = true
    this.#timers?.cancel()
  }
}

class Info implements AttemptInfo {
  readonly number: number
  readonly failures: number
  readonly evictions: number
  readonly #attempt: Executed

  constructor(attempt: Executed) {
    this.number = attempt.job.attempt
    this.failures = attempt.job.failures
    this.evictions = attempt.job.evictions
    this.#attempt = attempt
  }

  get fence(): string {
    return fenceOf(this.#attempt.job)
  }

  get leaseCertain(): boolean {
    return this.#attempt.leaseCertain()
  }
}

/**
 * Ordered as text: numbers are padded to the width of the largest safe integer. An id that was used anew is another
 * job, which was inserted later; after a restore sequences may come again, and the timeline tells.
 */
export function fenceOf({ spec, seq, epoch, attempt }: ClaimedJob): string {
  const order = [timelineOf(epoch), seq, epoch, attempt]
  return [spec.id, ...order.map((number) => String(number).padStart(16, '0'))].join(':')
}
