import { AttemptTimeout, EngineStopping, LeaseLost, LeaseUncertain } from '../errors.ts'
import { handlerInput } from '../jobs/input.ts'
import type { AnyJob } from '../jobs/definition.ts'
import type { Outcome } from '../jobs/record.ts'
import type { Timer } from '../ports/clock.ts'
import type { ClaimedJob } from '../ports/store.ts'
import { contextOf } from './context-of.ts'
import type { HeldClaim } from './held.ts'
import { createLazySignal } from './lazy-signal.ts'
import type { Leases } from './leases.ts'
import { failureOf, successOf } from './outcome.ts'
import type { WorkerParts } from './parts.ts'
import { createTimerGroup } from './timer-group.ts'

/** One execution of one job, from its claim to its settlement. */
export interface Attempt {
  readonly job: ClaimedJob
  readonly claim: HeldClaim
  /** False while this worker cannot vouch for its lease. */
  readonly certain: boolean
  readonly settleSent: boolean
  /** Runs the handler and resolves when it has returned, whatever became of the attempt meanwhile. */
  run(): Promise<void>
  /** Asks the handler to end, because the engine stops. */
  interrupt(): void
  /** Ends the attempt without its handler, uncharged. */
  release(): void
  becameUncertain(): void
  renewed(): void
  lost(): void
  /** Called when the settlement is on its way: from now on only the settle's own answer counts. */
  markSettleSent(): void
}

export interface AttemptParts extends WorkerParts {
  readonly leases: Leases
  /** Hands the settlement over; it is sent until its outcome is known. */
  readonly settle: (attempt: Attempt, outcome: Outcome) => void
}

export function createAttempt(
  parts: AttemptParts,
  definition: AnyJob,
  claim: HeldClaim,
  job: ClaimedJob,
): Attempt {
  const { clock, emit, leases, intervals } = parts
  const id = job.spec.id
  const where = { job: id, epoch: job.epoch } as const
  const interruption = createLazySignal()
  const state = {
    certain: leases.certain(claim, job.spec.leaseTtlMs),
    started: false,
    ended: false,
    settleSent: false,
  }
  /** What the handler is told, read when it asks: a blocked event loop may have kept the timer from its turn. */
  const lease = {
    get certain() {
      return state.certain && leases.certain(claim, job.spec.leaseTtlMs)
    },
  }
  const timers = createTimerGroup(clock)
  let timer: Timer | null = null
  let startable: (() => void) | null = null

  function end(outcome: Outcome): void {
    if (state.ended) return
    state.ended = true
    timer?.cancel()
    emit({ type: 'attempt.ended', ...where, end: outcome.kind })
    parts.settle(attempt, outcome)
  }

  function onTimeout(): void {
    const reason = new AttemptTimeout(`attempt of job ${id} exceeded ${job.spec.timeoutMs} ms`)
    interruption.abort(reason)
    timer = clock.timer(intervals.abandonMs, 'abandon', () => {
      emit({ type: 'attempt.abandoned', ...where })
      end(failureOf(reason, job, parts.random))
    })
  }

  async function execute(): Promise<Outcome> {
    try {
      const input = await handlerInput(definition, job.spec)
      const context = contextOf(timers.clock, job, input, interruption, lease)
      const value = await parts.executor.run({ id, epoch: job.epoch }, async () => definition.run(context))
      return successOf(value)
    } catch (error) {
      return failureOf(error, job, parts.random)
    } finally {
      timers.cancel()
    }
  }

  /** What the attempt amounts to when it was interrupted: a timeout is one whatever the handler returned. */
  function overruled(outcome: Outcome): Outcome {
    const { reason } = interruption
    if (reason instanceof AttemptTimeout) return failureOf(reason, job, parts.random)
    const interrupted = reason instanceof EngineStopping || reason instanceof LeaseUncertain
    return interrupted && outcome.kind === 'failed' ? { kind: 'released', delayMs: 0 } : outcome
  }

  const attempt: Attempt = {
    job,
    claim,
    get certain() {
      return state.certain
    },
    get settleSent() {
      return state.settleSent
    },
    run: async () => {
      if (!state.certain) await new Promise<void>((resolve) => (startable = resolve))
      if (state.ended) return
      state.started = true
      emit({ type: 'attempt.started', ...where, attempt: job.attempt })
      timer = clock.timer(job.spec.timeoutMs, 'timeout', onTimeout)
      end(overruled(await execute()))
    },
    interrupt: () => {
      if (!state.started) return attempt.release()
      interruption.abort(new EngineStopping('the engine is stopping; the job goes back to its queue'))
    },
    release: () => {
      end({ kind: 'released', delayMs: 0 })
      startable?.()
    },
    becameUncertain: () => {
      if (!state.certain || state.ended) return
      state.certain = false
      emit({ type: 'attempt.uncertain', ...where })
      if (definition.settings.onUncertainLease === 'abort') {
        interruption.abort(new LeaseUncertain(`the lease of job ${id} could not be renewed in time`))
      }
    },
    renewed: () => {
      if (!state.certain) emit({ type: 'attempt.certain', ...where })
      state.certain = true
      startable?.()
    },
    lost: () => {
      leases.drop(claim, attempt)
      if (state.ended) return
      state.ended = true
      timer?.cancel()
      emit({ type: 'attempt.lost', ...where })
      interruption.abort(new LeaseLost(`job ${id} was taken over; what this attempt does is discarded`))
      startable?.()
    },
    markSettleSent: () => {
      state.settleSent = true
    },
  }
  return attempt
}
