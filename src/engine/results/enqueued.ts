import type { Enqueued } from '../jobs/insert.ts'
import type { ResultOptions, Results } from './results.ts'

/**
 * A class: of ten thousand jobs that are enqueued together few results are waited for. What it is compared by, and
 * written as, is `{ id, created }`.
 */
export class EnqueuedJob<Result = unknown> implements Enqueued {
  readonly id: string
  readonly created: boolean
  readonly #results: Results

  constructor({ id, created }: Enqueued, results: Results) {
    this.id = id
    this.created = created
    this.#results = results
  }

  /** As `engine.result` of its id. */
  get result(): (options?: ResultOptions) => Promise<Result> {
    return (options) => this.#results.wait(this.id, options) as Promise<Result>
  }
}
