import { type Shared, at, frontierWords as words } from './shared.ts'
import { TooMuch } from './too-much.ts'

/** Where one schedule leaves another: before this step, by the n-th of the deviations that there are. */
export interface Leaving {
  readonly step: number
  readonly nth: number
}

/**
 * The schedules that are still to be walked, each as the one that it leaves and where: a handful of words, since
 * there are millions. The first is the default schedule.
 */
export class Frontier {
  readonly #words: Int32Array
  readonly #order: Int32Array
  readonly #control: Int32Array

  constructor({ frontier, order, control }: Shared) {
    this.#words = frontier
    this.#order = order
    this.#control = control
  }

  add(from: number, step: number, nth: number, atMs: number): void {
    const run = Atomics.add(this.#control, at.length, 1)
    if (run >= this.#order.length) {
      throw new TooMuch(
        `there is room for ${this.#order.length} schedules: raise schedulesMax, or lower the bound`,
      )
    }
    const place = run * words
    this.#words[place] = from
    this.#words[place + 1] = step
    this.#words[place + 2] = nth
    this.#words[place + 3] = atMs
  }

  /**
   * Begins a level: those that were added since the last, the earliest first, so that a state is met as early as it
   * can be. Answers how many they are.
   */
  begin(reversed = false): number {
    const from = this.#control[at.dealt] as number
    const to = this.#control[at.length] as number
    const runs = Int32Array.from({ length: to - from }, (_, k) => from + k)
    const timeOf = (run: number): number => this.#words[run * words + 3] as number
    runs.sort((a, b) => timeOf(a) - timeOf(b) || a - b)
    if (reversed) runs.reverse()
    this.#order.set(runs)
    this.#control[at.dealt] = to
    this.#control[at.cursor] = 0
    this.#control[at.size] = runs.length
    this.#control[at.found] = 0
    return runs.length
  }

  pathOf(run: number): Leaving[] {
    const path: Leaving[] = []
    for (let place = run * words; this.#words[place] !== -1; place = (this.#words[place] as number) * words) {
      path.push({ step: this.#words[place + 1] as number, nth: this.#words[place + 2] as number })
    }
    return path.reverse()
  }
}
