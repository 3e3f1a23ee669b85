import { type Shared, at, frontierWords as words } from './shared.ts'
import type { Spread } from './spread.ts'
import { TooMuch } from './too-much.ts'

/** Where one schedule leaves another: before this step, by the n-th of the deviations that there are. */
export interface Leaving {
  readonly step: number
  readonly nth: number
}

const toItsEnd = -1
/** As many as a page can draw. */
const binsMost = 60

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

  /** It was walked, to the instant of a state that was known; null: to its end. */
  ended(run: number, knownAtMs: number | null): void {
    this.#words[run * words + 4] = knownAtMs === null ? toItsEnd : knownAtMs + 1
  }

  /** Where in time the schedules of the level leave those with a deviation less, and where they end. */
  spread(horizonMs: number): Spread {
    const binMs = Math.max(1, Math.ceil(horizonMs / binsMost))
    const bins = Math.max(1, Math.ceil(horizonMs / binMs))
    const zeros = (): number[] => Array.from({ length: bins }, () => 0)
    const [left, pruned, joined, unwalked] = [zeros(), zeros(), zeros(), zeros()]
    const count = (bin: number[], atMs: number): void => {
      const k = Math.min(bins - 1, Math.floor(atMs / binMs))
      bin[k] = (bin[k] ?? 0) + 1
    }
    const size = this.#control[at.size] as number
    for (let k = 0; k < size; k++) {
      const place = (this.#order[k] as number) * words
      const [leavesAtMs, end] = [this.#words[place + 3] as number, this.#words[place + 4] as number]
      count(left, leavesAtMs)
      if (end === 0) count(unwalked, leavesAtMs)
      if (end <= 0) continue
      count(pruned, leavesAtMs)
      count(joined, end - 1)
    }
    return { binMs, left, pruned, joined, unwalked }
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
