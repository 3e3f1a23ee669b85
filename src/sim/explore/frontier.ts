/** Where one schedule leaves another: before this step, by the n-th of the deviations that there are. */
export interface Leaving {
  readonly step: number
  readonly nth: number
}

const words = 4

/**
 * The schedules that are still to be walked, each as the one that it leaves and where: a handful of words, since
 * there are millions. The first is the default schedule.
 */
export class Frontier {
  #words = new Int32Array(words * 1024)
  #length = 1
  #dealt = 0

  constructor() {
    this.#words[0] = -1
  }

  add(from: number, step: number, nth: number, atMs: number): void {
    const at = this.#length++ * words
    if (at === this.#words.length) {
      const larger = new Int32Array(this.#words.length * 2)
      larger.set(this.#words)
      this.#words = larger
    }
    this.#words[at] = from
    this.#words[at + 1] = step
    this.#words[at + 2] = nth
    this.#words[at + 3] = atMs
  }

  /** Those that were added since it was asked last, the earliest first: so a state is met as early as it can be. */
  next(): Int32Array {
    const runs = Int32Array.from({ length: this.#length - this.#dealt }, (_, k) => this.#dealt + k)
    this.#dealt = this.#length
    const times = this.#words
    return runs.sort((a, b) => (times[a * words + 3] as number) - (times[b * words + 3] as number) || a - b)
  }

  pathOf(run: number): Leaving[] {
    const path: Leaving[] = []
    for (let at = run * words; this.#words[at] !== -1; at = (this.#words[at] as number) * words) {
      path.push({ step: this.#words[at + 1] as number, nth: this.#words[at + 2] as number })
    }
    return path.reverse()
  }
}
