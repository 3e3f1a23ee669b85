import type { Counts } from './explore.ts'

/** What the threads of one exploration share: the states that were met, and the schedules that are to be walked. */
export interface Shared {
  readonly seen: Int32Array
  readonly frontier: Int32Array
  /** The schedules of the level, in the order in which they are walked. */
  readonly order: Int32Array
  readonly control: Int32Array
  /** What each thread has counted. */
  readonly counts: Float64Array
  /** How often each of its threads has evaluated each property, those of one thread after the other. */
  readonly evaluations: Float64Array
}

export interface Sizes {
  /** Room for so many distinct states, twice over; a power of two. Default 2^24. */
  readonly statesMax?: number
  /** Room for so many schedules. Default 2^22. */
  readonly schedulesMax?: number
}

export const seenWords = 7
/** Where it leaves which other one, when, and what became of it. */
export const frontierWords = 5

/** Places in `control`. */
export const at = {
  /** The next schedule of the level, by its place in `order`. */
  cursor: 0,
  /** How many schedules there are in all. */
  length: 1,
  /** How many of them the levels so far have dealt. */
  dealt: 2,
  /** How many schedules the level has. */
  size: 3,
  /** The first of it that violated something, by its place in `order`, from 1; 0: none did. */
  found: 4,
  /** Enough: nobody begins another. */
  stop: 5,
} as const

/** What a lane counts, in this order, and the schedule that it is at. */
export const counted = ['runs', 'states', 'distinct', 'pruned', 'replayed', 'depthMax', 'run'] as const
export type Counted = Record<(typeof counted)[number], number>

export function createShared(
  lanes: number,
  properties: number,
  { statesMax = 2 ** 24, schedulesMax = 2 ** 22 }: Sizes,
): Shared {
  const words = (count: number): Int32Array => new Int32Array(new SharedArrayBuffer(4 * count))
  const shared = {
    seen: words(statesMax * seenWords),
    frontier: words(schedulesMax * frontierWords),
    order: words(schedulesMax),
    control: words(Object.keys(at).length),
    counts: new Float64Array(new SharedArrayBuffer(8 * lanes * counted.length)),
    evaluations: new Float64Array(new SharedArrayBuffer(8 * lanes * properties)),
  }
  // The default schedule leaves none.
  shared.frontier[0] = -1
  shared.control[at.length] = 1
  return shared
}

/** The counts of all lanes together. */
export function sumOf({ counts }: Shared): Omit<Counts, 'level' | 'left' | 'wallMs'> {
  const sums: Counted = { runs: 0, states: 0, distinct: 0, pruned: 0, replayed: 0, depthMax: 0, run: 0 }
  for (let from = 0; from < counts.length; from += counted.length) {
    for (const [k, name] of counted.entries()) {
      const value = counts[from + k] ?? 0
      sums[name] = name === 'depthMax' ? Math.max(sums[name], value) : sums[name] + value
    }
  }
  const { run: _run, ...told } = sums
  return told
}

/** Of each property, by all lanes together. */
export function evaluationsOf({ evaluations }: Shared, properties: number): number[] {
  return Array.from({ length: properties }, (_, k) => {
    let sum = 0
    for (let at = k; at < evaluations.length; at += properties) sum += evaluations[at] ?? 0
    return sum
  })
}
