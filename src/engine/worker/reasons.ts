import { AttemptTimeout, JobCancelled } from '../errors.ts'
import type { Outcome } from '../jobs/record.ts'
import type { ClaimedJob } from '../ports/store.ts'
import type { Random } from '../ports/random.ts'
import { failureOf } from './outcome.ts'

/** What an attempt was asked to end for. Its handler is told the first; all of them say what the attempt amounts to. */
export class Reasons {
  readonly #reasons: Error[] = []
  #controller: AbortController | null = null

  /** Made when somebody looks at it: most handlers never do, and it is dear. */
  signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#reasons.length > 0) this.#controller.abort(this.#reasons[0])
    }
    return this.#controller.signal
  }

  names(): readonly string[] {
    return this.#reasons.map(({ name }) => name)
  }

  any(): boolean {
    return this.#reasons.length > 0
  }

  timeout(): AttemptTimeout | null {
    return this.#reasons.find((reason) => reason instanceof AttemptTimeout) ?? null
  }

  add(reason: Error): void {
    this.#reasons.push(reason)
    if (this.#reasons.length === 1) this.#controller?.abort(reason)
  }

  /**
   * What `outcome` amounts to. A timeout is one whatever the handler returned, and goes before a release, which
   * goes before a cancel, in whatever order they came.
   */
  overrule(outcome: Outcome, job: ClaimedJob, random: Random): Outcome {
    const reasons = this.#reasons
    if (reasons.length === 0) return outcome
    const timeout = this.timeout()
    if (timeout) return failureOf(timeout, job, random)
    if (outcome.kind !== 'failed') return outcome
    const cancelledOnly = reasons.every((reason) => reason instanceof JobCancelled)
    return cancelledOnly ? { kind: 'cancelled' } : { kind: 'released', delayMs: 0 }
  }
}
