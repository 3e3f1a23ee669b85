import type { Incarnation } from '../node.ts'

/**
 * The pending events of a world, in default order: time, then node, then the order in which that node made
 * them. Never the order of arrival, which would make one node's choices depend on another's.
 */
export interface WorldEvent {
  atMs: number
  readonly node: number
  ordinal: number
  /** The process that it happens to; null for the environment and the database. */
  readonly owner: Incarnation | null
  /** False once it was cancelled. */
  live: boolean
  readonly label: string
  readonly fire: () => void
}

export interface EventQueue {
  push(event: WorldEvent): void
  /** The live events that are pending under this label, in default order. */
  pending(label: string): WorldEvent[]
  /** Moves all events that `which` picks. */
  retime(which: (event: WorldEvent) => boolean, atMs: (event: WorldEvent) => number): void
  /** The next live event, taken out; undefined when none is left. */
  pop(): WorldEvent | undefined
}

export function createQueue(): EventQueue {
  const heap: WorldEvent[] = []
  return {
    push: (event) => {
      let at = heap.push(event) - 1
      while (at > 0) {
        const parent = (at - 1) >> 1
        if (!before(event, heap[parent] as WorldEvent)) break
        heap[at] = heap[parent] as WorldEvent
        at = parent
      }
      heap[at] = event
    },
    pending: (label) =>
      heap.filter((event) => event.live && event.label === label).sort((a, b) => (before(a, b) ? -1 : 1)),
    retime: (which, atMs) => {
      for (const event of heap) if (which(event)) event.atMs = atMs(event)
      // What is sorted is a heap.
      heap.sort((a, b) => (before(a, b) ? -1 : 1))
    },
    pop: () => {
      for (;;) {
        const top = heap[0]
        if (top === undefined) return undefined
        removeTop(heap)
        if (top.live) return top
      }
    },
  }
}

function before(a: WorldEvent, b: WorldEvent): boolean {
  if (a.atMs !== b.atMs) return a.atMs < b.atMs
  return a.node === b.node ? a.ordinal < b.ordinal : a.node < b.node
}

function removeTop(heap: WorldEvent[]): void {
  const last = heap.pop() as WorldEvent
  const length = heap.length
  if (length === 0) return
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= length) break
    if (child + 1 < length && before(heap[child + 1] as WorldEvent, heap[child] as WorldEvent)) child += 1
    if (!before(heap[child] as WorldEvent, last)) break
    heap[at] = heap[child] as WorldEvent
    at = child
  }
  heap[at] = last
}
