/** How many jobs of each queue may start now. A slot is taken at the start and given once, when the handler has returned. */
export interface Slots {
  free(): { readonly queue: string; readonly limit: number }[]
  take(queue: string): void
  give(queue: string): void
  readonly used: number
}

export function createSlots(queues: Readonly<Record<string, { readonly concurrency: number }>>): Slots {
  const names = Object.keys(queues).sort()
  const used = new Map<string, number>(names.map((name) => [name, 0]))
  return {
    free: () => {
      const free: { queue: string; limit: number }[] = []
      for (const queue of names) {
        const limit = (queues[queue]?.concurrency ?? 0) - (used.get(queue) ?? 0)
        if (limit > 0) free.push({ queue, limit })
      }
      return free
    },
    take: (queue) => void used.set(queue, (used.get(queue) ?? 0) + 1),
    give: (queue) => void used.set(queue, (used.get(queue) ?? 0) - 1),
    get used() {
      let sum = 0
      for (const count of used.values()) sum += count
      return sum
    },
  }
}
