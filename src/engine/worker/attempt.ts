import type { ClaimedJob } from '../ports/store.ts'
import type { RestState } from '../rest-state.ts'
import type { HeldClaim } from './held.ts'

/** One execution of one job, from its claim to its settlement. */
export interface Attempt {
  readonly job: ClaimedJob
  readonly claim: HeldClaim
  /** False while this worker cannot vouch for its lease. */
  certain(): boolean
  settleSent(): boolean
  /** Runs the handler, as soon as its lease is certain. Whatever becomes of the attempt, it returns once. */
  run(): void
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
  /**
   * Of one that has not ended, alone in its process: whether it has started its timers say. What its handler is at is
   * not part of it.
   */
  atRest(): RestState
}
