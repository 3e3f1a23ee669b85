import { AttemptTimeout, EngineStopping, JobCancelled, LeaseLost, LeaseUncertain } from '../errors.ts'
import { handlerInput } from '../jobs/input.ts'
import type { AnyJob } from '../jobs/definition.ts'
import type { Outcome } from '../jobs/record.ts'
import type { Timer } from '../ports/clock.ts'
import type { ClaimedJob } from '../ports/store.ts'
import { contextOf } from './context-of.ts'
import type { HeldClaim } from './held.ts'
import { createLazySignal } from './lazy-signal.ts'
import type { Leases } from './leases.ts'
import { runMeasure } from './measures.ts'
import { createTimerGroup } from './timer-group.ts'
import { wrapped } from './middleware.ts'
import { failureOf, successOf } from './outcome.ts'
import type { WorkerParts } from './parts.ts'

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
  /** Asks the handler to end, because an operator asked for the job's end. Called after `renewed`. */
  cancel(): void
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
  const { epoch } = job
  const interruption = createLazySignal()
  /** All reasons that there were to end; the signal shows the first. */
  const reasons: Error[] = []
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
  const measured = runMeasure(parts, job)
  let timer: Timer | null = null
  let startable: (() => void) | null = null

  function end(outcome: Outcome): void {
    if (state.ended) return
    state.ended = true
    timer?.cancel()
    emit({ type: 'attempt.ended', job: id, epoch, end: outcome.kind })
    measured.ended(outcome.kind)
    parts.settle(attempt, outcome)
  }

  function askToEnd(reason: Error): void {
    reasons.push(reason)
    interruption.abort(reason)
  }

  function onTimeout(): void {
    const reason = new AttemptTimeout(`attempt of job ${id} exceeded ${job.spec.timeoutMs} ms`)
    askToEnd(reason)
    timer = clock.timer(intervals.abandonMs, 'abandon', () => {
      emit({ type: 'attempt.abandoned', job: id, epoch })
      end(failureOf(reason, job, parts.random))
    })
  }

  async function execute(): Promise<Outcome> {
    try {
      const input = await handlerInput(definition, job.spec, parts.payloads)
      const context = contextOf(parts, timers.clock, job, input, interruption, lease)
      const value = await parts.executor.run({ id, epoch }, () =>
        wrapped(parts.middleware, context, async () => definition.run(context)),
      )
      return await successOf(id, value, parts.payloads)
    } catch (error) {
      return failureOf(error, job, parts.random)
    } finally {
      timers.cancel()
    }
  }

  /**
   * What the attempt amounts to when it was asked to end. A timeout is one whatever the handler returned, and
   * goes before a release, which goes before a cancel, in whatever order they came.
   */
  function overruled(outcome: Outcome): Outcome {
    const timeout = reasons.find((reason) => reason instanceof AttemptTimeout)
    if (timeout) return failureOf(timeout, job, parts.random)
    if (outcome.kind !== 'failed' || reasons.length === 0) return outcome
    const cancelledOnly = reasons.every((reason) => reason instanceof JobCancelled)
    return cancelledOnly ? { kind: 'cancelled' } : { kind: 'released', delayMs: 0 }
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
      measured.began()
      emit({ type: 'attempt.started', job: id, epoch, attempt: job.attempt })
      timer = clock.timer(job.spec.timeoutMs, 'timeout', onTimeout)
      end(overruled(await execute()))
    },
    interrupt: () => {
      if (!state.started) return attempt.release()
      askToEnd(new EngineStopping('the engine is stopping; the job goes back to its queue'))
    },
    cancel: () => {
      if (reasons.length > 0 || state.ended) return
      emit({ type: 'attempt.cancelling', job: id, epoch })
      if (state.started) return askToEnd(new JobCancelled(`job ${id} was cancelled`))
      end({ kind: 'cancelled' })
    },
    release: () => {
      end({ kind: 'released', delayMs: 0 })
      startable?.()
    },
    becameUncertain: () => {
      if (!state.certain || state.ended) return
      state.certain = false
      emit({ type: 'attempt.uncertain', job: id, epoch })
      if (definition.settings.onUncertainLease === 'abort') {
        askToEnd(new LeaseUncertain(`the lease of job ${id} could not be renewed in time`))
      }
    },
    renewed: () => {
      if (!state.certain) emit({ type: 'attempt.certain', job: id, epoch })
      state.certain = true
      startable?.()
    },
    lost: () => {
      leases.drop(claim, attempt)
      if (state.ended) return
      state.ended = true
      timer?.cancel()
      emit({ type: 'attempt.lost', job: id, epoch })
      measured.ended('lost')
      interruption.abort(new LeaseLost(`job ${id} was taken over; what this attempt does is discarded`))
      startable?.()
    },
    markSettleSent: () => {
      state.settleSent = true
    },
  }
  return attempt
}
