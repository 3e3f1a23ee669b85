/** Where in time the schedules of one level are, in bins: the k-th holds what is from `k x binMs` on. */
export interface Spread {
  readonly binMs: number
  /** Schedules by when they leave the one with a deviation less. */
  readonly left: readonly number[]
  /** Those of them that came to a state that was known. */
  readonly pruned: readonly number[]
  /** The same by when they came to it. */
  readonly joined: readonly number[]
  /** Of `left`, those that nobody walked: something was found before, or the time was over. */
  readonly unwalked: readonly number[]
}

/** The schedules with so many deviations. */
export interface Level {
  readonly deviations: number
  /** How many there are. */
  readonly schedules: number
  /** How many of them were walked: all, unless something was found or the time was over. */
  readonly runs: number
  /** As in `Counts`. */
  readonly states: number
  readonly distinct: number
  readonly pruned: number
  readonly spread: Spread
}
