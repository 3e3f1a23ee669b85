/** What has ended and need not be kept any longer is removed. Nothing else is ever removed from a store. */
export interface RetentionStore {
  /**
   * Looks at the next `limit` jobs in order of insertion, and removes those that have ended and are over their own
   * `keepMs`; an open dead letter only if it has been one for `deadLetterMs`, too. With a job goes what hangs on it:
   * checkpoints, log, lookup rows; and its id is free again. One that somebody is writing is left to a later pass. Where
   * those it would remove have more lines of logs than `sweptLinesMax` it looks at fewer, so that at least one goes.
   * `limit` <= 0: nothing; no more than `sweepLimitMax` in one call.
   */
  readonly sweep: (params: SweepParams) => Promise<SweepReply>
  /** Removes named leases that lapsed `lapsedMs` ago. `limit` <= 0: none. */
  readonly sweepLeases: (params: {
    readonly limit: number
    readonly lapsedMs: number
  }) => Promise<{ readonly removed: number }>
}

/** What one call may look at: short enough not to keep others waiting. */
export const sweepLimitMax = 1_000

export interface SweepParams {
  /** What the call before it answered; null: from the beginning. Opaque to all but the store. */
  readonly after: string | null
  readonly limit: number
  readonly deadLetterMs: number
  /**
   * The pass is over at the first job that was created less than this ago, since all behind it are younger; one from
   * the future, of a clock that was wrong, ends nothing. It only bounds what is read: what may go is said by each job.
   */
  readonly olderMs: number
}

export interface SweepReply {
  /** Ids of the jobs that were removed, in order of insertion. */
  readonly removed: readonly string[]
  readonly looked: number
  /** Where to go on; null: there is no more, or no more that is old enough. */
  readonly after: string | null
}
