import { EngineStopping, JobCancelled, LeaseLost, LeaseUncertain } from '../errors.ts'
import type { AnyJob } from '../jobs/definition.ts'
import type { Outcome } from '../jobs/record.ts'
import type { ClaimedJob } from '../ports/store.ts'
import type { Commits, Committing } from './commit.ts'
import { execute } from './execute.ts'
import type { HeldClaim } from './held.ts'
import type { Leases } from './leases.ts'
import { runMeasure } from './measures.ts'
import { failureOf } from './outcome.ts'
import type { WorkerParts } from './parts.ts'
import { createReasons } from './reasons.ts'
import { createTimeLimit } from './time-limit.ts'

/** One execution of one job, from its claim to its settlement. */
export interface Attempt {
  readonly job: ClaimedJob
  readonly claim: HeldClaim
  /** False while this worker cannot vouch for its lease. */
  certain(): boolean
  settleSent(): boolean
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
  readonly commits: Commits
  /** Called when a commit has settled the attempt. */
  readonly settled: (attempt: Attempt) => void
}

export function createAttempt(
  parts: AttemptParts,
  definition: AnyJob,
  claim: HeldClaim,
  job: ClaimedJob,
): Attempt {
  const { emit, leases } = parts
  const id = job.spec.id
  const { epoch } = job
  const reasons = createReasons(job, parts.random)
  const state = {
    certain: leases.certain(claim, job.spec.leaseTtlMs),
    started: false,
    ended: false,
    settleSent: false,
    /** A commit is on its way: until its outcome is known it alone ends the attempt. */
    committing: false,
    /** How the attempt would have ended meanwhile. */
    deferred: null as Outcome | null,
  }
  /** What the handler is told, read when it asks: a blocked event loop may have kept the timer from its turn. */
  const lease = (): boolean => state.certain && leases.certain(claim, job.spec.leaseTtlMs)
  const limit = createTimeLimit(parts, job, {
    timedOut: reasons.add,
    abandoned: (reason) => {
      emit({ type: 'attempt.abandoned', job: id, epoch })
      end(failureOf(reason, job, parts.random))
    },
  })
  const measured = runMeasure(parts, job)
  let startable: (() => void) | null = null

  function end(outcome: Outcome): void {
    if (state.ended) return
    if (state.committing) state.deferred ??= outcome
    else if (close(outcome.kind)) parts.settle(attempt, outcome)
  }

  /** Answers whether the attempt had not ended. */
  function close(kind: Outcome['kind']): boolean {
    if (state.ended) return false
    state.ended = true
    limit.cancel()
    emit({ type: 'attempt.ended', job: id, epoch, end: kind })
    measured.ended(kind)
    return true
  }

  /** A handler that goes on without awaiting it does not end the attempt either. */
  const committing: Committing = {
    begin: () => {
      const timeout = reasons.timeout()
      if (timeout) throw timeout
      if (state.ended) throw new LeaseLost(`the attempt of job ${id} has ended: nothing was committed`)
      emit({ type: 'attempt.committing', job: id, epoch })
      state.committing = true
      state.settleSent = true
    },
    goOn: () => {
      state.committing = false
      state.settleSent = false
      if (state.deferred) end(state.deferred)
    },
    committed: (kind) => {
      if (kind === 'succeeded') emit({ type: 'attempt.committed', job: id, epoch })
      if (close(kind)) parts.settled(attempt)
    },
    release: () => {
      state.committing = false
      end({ kind: 'released', delayMs: 0 })
    },
    lost: () => {
      attempt.lost()
      throw takenOver(id)
    },
  }

  const attempt: Attempt = {
    job,
    claim,
    certain: () => state.certain,
    settleSent: () => state.settleSent,
    run: async () => {
      if (!state.certain) await new Promise<void>((resolve) => (startable = resolve))
      if (state.ended) return
      state.started = true
      measured.began()
      emit({ type: 'attempt.started', job: id, epoch, attempt: job.attempt })
      limit.start()
      const own = { ...parts, commit: parts.commits.of(job, committing) }
      end(reasons.overrule(await execute(own, definition, job, reasons.signal, lease)))
    },
    interrupt: () => {
      if (!state.started) return attempt.release()
      reasons.add(new EngineStopping('the engine is stopping; the job goes back to its queue'))
    },
    cancel: () => {
      if (reasons.any() || state.ended) return
      emit({ type: 'attempt.cancelling', job: id, epoch })
      if (state.started) return reasons.add(new JobCancelled(`job ${id} was cancelled`))
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
        reasons.add(new LeaseUncertain(`the lease of job ${id} could not be renewed in time`))
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
      limit.cancel()
      emit({ type: 'attempt.lost', job: id, epoch })
      measured.ended('lost')
      reasons.add(takenOver(id))
      startable?.()
    },
    markSettleSent: () => {
      state.settleSent = true
    },
  }
  return attempt
}

function takenOver(id: string): LeaseLost {
  return new LeaseLost(`job ${id} was taken over; what this attempt does is discarded`)
}
