import { HoldfastError } from '../../engine/errors.ts'

/** More distinct states than there was room for. */
export class TooManyStates extends HoldfastError {
  readonly code = 'TOO_MANY_STATES'
}

const words = 7

/**
 * The states that were met, each with the earliest time at which it was: a flat table, since millions of objects
 * would cost more than the runs. Levels are explored in the order of their deviations, so whoever met a state before
 * had at least as many left; if it had as much time left too, then all that can come of it is, or will be, looked at.
 */
export class Seen {
  readonly #capacity: number
  readonly #table: Int32Array
  distinct = 0

  /** @param statesMax A power of two; half of it is room for states. */
  constructor(statesMax: number) {
    this.#capacity = statesMax
    this.#table = new Int32Array(statesMax * words)
  }

  /**
   * Takes note of a state; answers whether it is to be looked at. Where it is not, `by` is filled with the run and
   * the step at which it was.
   */
  isNew(key: Int32Array, atMs: number, run: number, step: number, by: Int32Array): boolean {
    const table = this.#table
    const mask = this.#capacity - 1
    let slot = ((key[0] as number) ^ ((key[2] as number) >>> 3)) & mask
    for (;;) {
      const at = slot * words
      // Times are told from one on, so that an empty slot is one without.
      if (table[at + 4] === 0) return this.#put(at, key, atMs, run, step)
      if (
        table[at] === key[0] &&
        table[at + 1] === key[1] &&
        table[at + 2] === key[2] &&
        table[at + 3] === key[3]
      ) {
        if ((table[at + 4] as number) <= atMs + 1) {
          by[0] = table[at + 5] as number
          by[1] = table[at + 6] as number
          return false
        }
        this.distinct -= 1
        return this.#put(at, key, atMs, run, step)
      }
      slot = (slot + 1) & mask
    }
  }

  #put(at: number, key: Int32Array, atMs: number, run: number, step: number): boolean {
    this.distinct += 1
    if (this.distinct * 2 > this.#capacity) {
      throw new TooManyStates(
        `more than ${this.#capacity / 2} distinct states: raise statesMax, or lower the bound`,
      )
    }
    this.#table.set(key, at)
    this.#table[at + 4] = atMs + 1
    this.#table[at + 5] = run
    this.#table[at + 6] = step
    return true
  }
}
