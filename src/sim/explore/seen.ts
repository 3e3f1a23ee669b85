import { TooMuch } from './too-much.ts'
import { seenWords as words } from './shared.ts'

/**
 * The states that were met, each with the earliest time at which it was: a flat table, since millions of objects
 * would cost more than the runs. Levels are explored in the order of their deviations, so whoever met a state before
 * had at least as many left; if it had as much time left too, then all that can come of it is, or will be, looked at.
 *
 * Threads share it. Two that meet one state at once may both take it for new, and walk on from it twice.
 */
export class Seen {
  readonly #table: Int32Array
  readonly #slots: number
  /** How many this thread was the first to meet. */
  distinct = 0
  readonly #mostSlots: number

  constructor(table: Int32Array, lanes = 1) {
    this.#table = table
    this.#slots = table.length / words
    this.#mostSlots = this.#slots / 2 / lanes
  }

  /**
   * Takes note of a state; answers whether it is to be looked at. Where it is not, `by` is filled with the run and
   * the step at which it was.
   */
  isNew(key: Int32Array, atMs: number, run: number, step: number, by: Int32Array): boolean {
    const table = this.#table
    let slot = ((key[0] as number) ^ ((key[2] as number) >>> 3)) & (this.#slots - 1)
    for (;;) {
      const at = slot * words
      // Times are told from one on, so that an empty slot is one without.
      const time = Atomics.load(table, at + 4)
      if (time === 0) {
        if (Atomics.compareExchange(table, at + 4, 0, beingWritten) === 0) {
          this.#count()
          table[at] = key[0] as number
          table[at + 1] = key[1] as number
          table[at + 2] = key[2] as number
          table[at + 3] = key[3] as number
          return this.#put(at, atMs, run, step)
        }
        continue
      }
      if (time !== beingWritten && isAt(table, at, key)) {
        if (time > atMs + 1) return this.#put(at, atMs, run, step)
        by[0] = table[at + 5] as number
        by[1] = table[at + 6] as number
        return false
      }
      slot = (slot + 1) & (this.#slots - 1)
    }
  }

  #put(at: number, atMs: number, run: number, step: number): true {
    this.#table[at + 5] = run
    this.#table[at + 6] = step
    Atomics.store(this.#table, at + 4, atMs + 1)
    return true
  }

  #count(): void {
    this.distinct += 1
    if (this.distinct <= this.#mostSlots) return
    throw new TooMuch(
      `there is room for ${this.#slots / 2} distinct states: raise statesMax, or lower the bound`,
    )
  }
}

const beingWritten = -1

function isAt(table: Int32Array, at: number, key: Int32Array): boolean {
  return (
    table[at] === key[0] && table[at + 1] === key[1] && table[at + 2] === key[2] && table[at + 3] === key[3]
  )
}
