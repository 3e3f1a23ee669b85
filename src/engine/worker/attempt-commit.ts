import { LeaseLost } from '../errors.ts'
import type { Outcome } from '../jobs/record.ts'
import type { Attempt } from './attempt.ts'
import type { Committing } from './commit.ts'
import type { WorkerParts } from './parts.ts'
import type { Reasons } from './reasons.ts'

/** An attempt, as its own commit may end it. */
export interface Ending extends Attempt {
  readonly reasons: Reasons
  ended(): boolean
  end(outcome: Outcome): void
  /** Null: all that it has said is in the store. */
  flushLog(): Promise<void> | null
  /** What is not there by now is lost. */
  dropLog(): void
  /** Answers whether it had not ended. */
  close(end: Outcome['kind']): boolean
}

interface CommitParts extends WorkerParts {
  /** Called when the commit has settled the attempt. */
  readonly settled: (attempt: Attempt) => void
}

/**
 * How the commit of an attempt's handler ends it. A handler that goes on without awaiting its commit does not end the
 * attempt either.
 */
export class AttemptCommit implements Committing {
  readonly #parts: CommitParts
  readonly #attempt: Ending
  #pending = false
  /** How the attempt would have ended meanwhile. */
  #deferred: Outcome | null = null

  constructor(parts: CommitParts, attempt: Ending) {
    this.#parts = parts
    this.#attempt = attempt
  }

  /** It is on its way: until its outcome is known it alone ends the attempt. */
  pending(): boolean {
    return this.#pending
  }

  defer(outcome: Outcome): void {
    this.#deferred ??= outcome
  }

  begin(): void {
    const { job, reasons } = this.#attempt
    const { id } = job.spec
    const timeout = reasons.timeout()
    if (timeout) throw timeout
    if (this.#attempt.ended())
      throw new LeaseLost(`the attempt of job ${id} has ended: nothing was committed`)
    this.#parts.emit({ type: 'attempt.committing', job: id, epoch: job.epoch })
    this.#pending = true
  }

  flushed(): Promise<void> | null {
    return this.#attempt.flushLog()
  }

  goOn(): void {
    this.#pending = false
    if (this.#deferred) this.#attempt.end(this.#deferred)
  }

  committed(kind: 'succeeded' | 'released'): void {
    const { spec, epoch } = this.#attempt.job
    if (kind === 'succeeded') this.#parts.emit({ type: 'attempt.committed', job: spec.id, epoch })
    if (!this.#attempt.close(kind)) return
    this.#attempt.dropLog()
    this.#parts.settled(this.#attempt)
  }

  release(): void {
    this.#pending = false
    this.#attempt.end({ kind: 'released', delayMs: 0 })
  }

  lost(): never {
    this.#attempt.lost()
    throw takenOver(this.#attempt.job.spec.id)
  }
}

export function takenOver(id: string): LeaseLost {
  return new LeaseLost(`job ${id} was taken over; what this attempt does is discarded`)
}
