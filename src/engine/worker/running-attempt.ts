import { AttemptTimeout, EngineStopping, JobCancelled, LeaseUncertain } from '../errors.ts'
import type { Commit, Log } from '../jobs/context.ts'
import type { AnyJob } from '../jobs/definition.ts'
import type { Outcome } from '../jobs/record.ts'
import type { AttemptLog } from '../logs/attempt-log.ts'
import type { AttemptLogs } from '../logs/attempt-logs.ts'
import type { Timer } from '../ports/clock.ts'
import type { ClaimedJob } from '../ports/store.ts'
import type { RestState } from '../rest-state.ts'
import type { Attempt } from './attempt.ts'
import { AttemptCommit, type Ending, takenOver } from './attempt-commit.ts'
import type { Commits } from './commit.ts'
import { type Executed, fenceOf } from './context.ts'
import { execute } from './execute.ts'
import type { HeldClaim } from './held.ts'
import type { Leases } from './leases.ts'
import { runEnded } from './measures.ts'
import { failureOf } from './outcome.ts'
import type { WorkerParts } from './parts.ts'
import { Reasons } from './reasons.ts'

export interface AttemptParts extends WorkerParts {
  readonly leases: Leases
  /** Hands the settlement over; it is sent until its outcome is known. */
  readonly settle: (attempt: Attempt, outcome: Outcome) => void
  readonly commits: Commits
  readonly logs: AttemptLogs
  /** Called when a commit has settled the attempt. */
  readonly settled: (attempt: Attempt) => void
  /** Called when the handler has returned, or will never start. */
  readonly returned: (attempt: Attempt) => void
}

/**
 * A class, in which what few handlers look at is made when they do: a thousand attempts live at once, and what each
 * is made of is most of what a job costs.
 */
export class RunningAttempt implements Ending, Executed {
  readonly job: ClaimedJob
  readonly claim: HeldClaim
  readonly reasons: Reasons = new Reasons()
  readonly #parts: AttemptParts
  readonly #definition: AnyJob
  #certain: boolean
  #started = false
  #ended = false
  #settleSent = false
  #commit: AttemptCommit | null = null
  #log: AttemptLog | null = null
  /** Monotonic time of its start, where that is measured. */
  #beganAtMs: number | null = null
  /** Waits for the attempt's timeout, and then for its abandonment. */
  #timer: Timer | null = null
  #startable: (() => void) | null = null

  constructor(parts: AttemptParts, definition: AnyJob, claim: HeldClaim, job: ClaimedJob) {
    this.job = job
    this.claim = claim
    this.#parts = parts
    this.#definition = definition
    this.#certain = parts.leases.certain(claim, job.spec.leaseTtlMs)
  }

  certain(): boolean {
    return this.#certain
  }

  /** What the handler is told, read when it asks: a blocked event loop may have kept the timer from its turn. */
  leaseCertain(): boolean {
    return this.#certain && this.#parts.leases.certain(this.claim, this.job.spec.leaseTtlMs)
  }

  settleSent(): boolean {
    return this.#settleSent || this.#commit?.pending() === true
  }

  ended(): boolean {
    return this.#ended
  }

  commit(): Commit {
    this.#commit ??= new AttemptCommit(this.#parts, this)
    return this.#parts.commits.of(this.job, this.#commit)
  }

  log(): Log {
    this.#log ??= this.#parts.logs.of(this.job)
    if (this.#ended) this.#parts.logs.drop(this.#log)
    return this.#log.log
  }

  flushLog(): Promise<void> | null {
    return this.#log?.flush() ?? null
  }

  dropLog(): void {
    this.#parts.logs.drop(this.#log)
  }

  run(): void {
    if (this.#certain) return this.#execute()
    void new Promise<void>((resolve) => (this.#startable = resolve)).then(() => this.#execute())
  }

  #execute(): void {
    if (this.#ended) return this.#parts.returned(this)
    const startedAtMs = this.#start()
    const outcome = execute(this.#parts, this.#definition, this)
    if (!(outcome instanceof Promise)) return this.#returned(outcome)
    if (!this.#ended) this.#limit(startedAtMs)
    void outcome.then((late) => this.#returned(late))
  }

  /** Only what goes on is timed: a timer is a good part of what a handler costs that returns at once. */
  #limit(startedAtMs: number): void {
    const { clock } = this.#parts
    const leftMs = Math.max(0, startedAtMs + this.job.spec.timeoutMs - clock.monotonicMs())
    this.#timer = clock.timer(leftMs, 'timeout', () => this.#timedOut())
  }

  #returned(outcome: Outcome): void {
    this.end(this.reasons.overrule(outcome, this.job, this.#parts.random))
    this.#parts.returned(this)
  }

  /** Answers when: monotonic time. */
  #start(): number {
    const { clock, measure, emit } = this.#parts
    const { spec, epoch, attempt } = this.job
    const nowMs = clock.monotonicMs()
    this.#started = true
    if (measure) this.#beganAtMs = nowMs
    emit({ type: 'attempt.started', job: spec.id, epoch, attempt })
    return nowMs
  }

  /** At its timeout the handler is asked to end, and `abandonMs` later it is waited for no more. */
  #timedOut(): void {
    const { clock, intervals, emit, random } = this.#parts
    const { spec, epoch } = this.job
    const reason = new AttemptTimeout(`attempt of job ${spec.id} exceeded ${spec.timeoutMs} ms`)
    this.reasons.add(reason)
    this.#timer = clock.timer(intervals.abandonMs, 'abandon', () => {
      emit({ type: 'attempt.abandoned', job: spec.id, epoch })
      this.end(failureOf(reason, this.job, random))
    })
  }

  end(outcome: Outcome): void {
    if (this.#ended) return
    if (this.#commit?.pending()) this.#commit.defer(outcome)
    else if (this.close(outcome.kind))
      this.#parts.logs.flushed(this.#log, () => this.#parts.settle(this, outcome))
  }

  close(end: Outcome['kind']): boolean {
    if (this.#ended) return false
    this.#over()
    this.#parts.emit({ type: 'attempt.ended', job: this.job.spec.id, epoch: this.job.epoch, end })
    runEnded(this.#parts, this.job, this.#beganAtMs, end)
    return true
  }

  #over(): void {
    this.#ended = true
    this.#timer?.cancel()
  }

  interrupt(): void {
    if (!this.#started) return this.release()
    this.reasons.add(new EngineStopping('the engine is stopping; the job goes back to its queue'))
  }

  cancel(): void {
    if (this.reasons.any() || this.#ended) return
    const { id } = this.job.spec
    this.#parts.emit({ type: 'attempt.cancelling', job: id, epoch: this.job.epoch })
    if (this.#started) return this.reasons.add(new JobCancelled(`job ${id} was cancelled`))
    this.end({ kind: 'cancelled' })
  }

  release(): void {
    this.end({ kind: 'released', delayMs: 0 })
    this.#startable?.()
  }

  becameUncertain(): void {
    if (!this.#certain || this.#ended) return
    const { id } = this.job.spec
    this.#certain = false
    this.#parts.emit({ type: 'attempt.uncertain', job: id, epoch: this.job.epoch })
    if (this.#definition.settings.onUncertainLease === 'abort') {
      this.reasons.add(new LeaseUncertain(`the lease of job ${id} could not be renewed in time`))
    }
  }

  renewed(): void {
    const { spec, epoch } = this.job
    if (!this.#certain) this.#parts.emit({ type: 'attempt.certain', job: spec.id, epoch })
    this.#certain = true
    this.#startable?.()
  }

  lost(): void {
    const { spec, epoch } = this.job
    this.#parts.leases.drop(this.claim, this)
    if (this.#ended) return
    this.#over()
    this.dropLog()
    this.#parts.emit({ type: 'attempt.lost', job: spec.id, epoch })
    runEnded(this.#parts, this.job, this.#beganAtMs, 'lost')
    this.reasons.add(takenOver(spec.id))
    this.#startable?.()
  }

  markSettleSent(): void {
    this.#settleSent = true
  }

  atRest(): RestState {
    const { failures, evictions } = this.job
    return {
      fence: fenceOf(this.job),
      failures,
      evictions,
      certain: this.#certain,
      reasons: this.reasons.names(),
    }
  }
}
