/** Counts what each hundred seeds met first, in the order of the seeds, whatever order they end in. */
export interface Saturation {
  add(index: number, behaviours: readonly string[]): void
  told(): { readonly behaviours: number; readonly newPerHundred: readonly number[] }
}

export function createSaturation(): Saturation {
  const known = new Set<string>()
  const newPerHundred: number[] = []
  /** Of seeds that ended before an earlier one. */
  const early = new Map<number, readonly string[]>()
  let next = 0

  function take(behaviours: readonly string[]): void {
    const before = known.size
    for (const behaviour of behaviours) known.add(behaviour)
    const hundred = Math.floor(next++ / 100)
    newPerHundred[hundred] = (newPerHundred[hundred] ?? 0) + known.size - before
  }

  return {
    add: (index, behaviours) => {
      early.set(index, behaviours)
      for (;;) {
        const now = early.get(next)
        if (!now) return
        early.delete(next)
        take(now)
      }
    },
    told: () => ({ behaviours: known.size, newPerHundred }),
  }
}
