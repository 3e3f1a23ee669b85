import type { Incarnation } from '../node.ts'

/**
 * The pending events of a world, in default order: time, then node, then the order in which that node made
 * them. Never the order of arrival, which would make one node's choices depend on another's.
 */
export interface WorldEvent {
  atMs: number
  readonly node: number
  ordinal: number
  /** Its first ordinal: it keeps it, also where it was put back. */
  readonly made: number
  /** The process that it happens to; null for the environment and the database. */
  readonly owner: Incarnation | null
  /** False once it was cancelled. */
  live: boolean
  readonly label: string
  readonly fire: () => void
  /** What the label does not say of it: which message, or whom it is about. Null: it says all. */
  readonly about: unknown
}

export interface EventQueue {
  /** All that is pending, the next one last, cancelled ones among it. */
  readonly events: readonly WorldEvent[]
  push(event: WorldEvent): void
  /** The live events that are pending under this label, in default order. */
  pending(label: string): WorldEvent[]
  /** Moves all events that `which` picks. */
  retime(which: (event: WorldEvent) => boolean, atMs: (event: WorldEvent) => number): void
  /** The next live event, taken out; undefined when none is left. */
  pop(): WorldEvent | undefined
  /** The same, left in. What comes before it does nothing any more, and is dropped. */
  next(): WorldEvent | undefined
  /** Takes out one that is pending. */
  take(event: WorldEvent): void
}

/** Sorted, the next one last: most events are for soon, and few have to be moved for one of them. */
export function createQueue(): EventQueue {
  const events: WorldEvent[] = []

  /** Where the event is, or would be. */
  function placeOf(event: WorldEvent): number {
    let [from, to] = [0, events.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if (before(event, events[middle] as WorldEvent)) from = middle + 1
      else to = middle
    }
    return from
  }

  return {
    events,
    push: (event) => {
      const at = placeOf(event)
      if (at === events.length) events.push(event)
      else events.splice(at, 0, event)
    },
    pending: (label) => events.filter((event) => event.live && event.label === label).reverse(),
    retime: (which, atMs) => {
      for (const event of events) if (which(event)) event.atMs = atMs(event)
      events.sort((a, b) => (before(a, b) ? 1 : -1))
    },
    pop: () => {
      let top = events.pop()
      while (top && !top.live) top = events.pop()
      return top
    },
    next: () => {
      let top = events.at(-1)
      while (top && !(top.live && (top.owner === null || top.owner.alive))) {
        events.pop()
        top = events.at(-1)
      }
      return top
    },
    take: (event) => void events.splice(placeOf(event), 1),
  }
}

function before(a: WorldEvent, b: WorldEvent): boolean {
  if (a.atMs !== b.atMs) return a.atMs < b.atMs
  return a.node === b.node ? a.ordinal < b.ordinal : a.node < b.node
}
