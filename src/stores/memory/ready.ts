import type { JobRecord } from '../../engine/jobs/record.ts'
import { isLastEviction } from '../../engine/jobs/record.ts'

/**
 * The queued jobs in claim order: band, visible time, insertion sequence. One heap for each (queue, kind,
 * band, last eviction or not), so that a claim looks only at the heads it may take. An entry whose job has
 * moved on since is stale and skipped; it is recognised by its version.
 */
export interface Ready {
  add(job: JobRecord): void
  /** The first due job, or null. `current` answers the job as it is now. */
  first(filter: ReadyFilter, nowMs: number): JobRecord | null
  /** When the first of the queue is or was due, whatever its kind and band; null if it is empty. */
  earliestMs(queue: string): number | null
  /** Takes out the job that `first` answered. */
  remove(job: JobRecord): void
  clear(): void
}

export interface ReadyFilter {
  readonly queues: readonly string[]
  readonly kinds: readonly string[]
  readonly solo: boolean
}

const bands = 4

export function createReady(current: (id: string) => JobRecord | undefined): Ready {
  /** By queue, then by kind; in a lane one heap for each band, then the same for jobs on their last eviction. */
  const lanes = new Map<string, Map<string, JobRecord[][]>>()

  function heapOf({ spec, evictions }: JobRecord): JobRecord[] {
    let kinds = lanes.get(spec.queue)
    if (!kinds) lanes.set(spec.queue, (kinds = new Map()))
    let lane = kinds.get(spec.kind)
    if (!lane) kinds.set(spec.kind, (lane = Array.from({ length: 2 * bands }, () => [])))
    return lane[spec.band + (isLastEviction({ spec, evictions }) ? bands : 0)] as JobRecord[]
  }

  /** Drops stale entries from the head; answers the first that still stands. */
  function head(heap: JobRecord[]): JobRecord | undefined {
    for (let top = heap[0]; top; top = heap[0]) {
      if (current(top.spec.id) === top) return top
      pop(heap)
    }
    return undefined
  }

  /** The first due job of a lane, if it goes before `best`; bands behind that of `best` are not looked at. */
  function better(
    best: JobRecord | null,
    lane: readonly JobRecord[][],
    from: number,
    nowMs: number,
  ): JobRecord | null {
    const last = best ? best.spec.band : bands - 1
    for (let band = 0; band <= last; band++) {
      const top = head(lane[from + band] as JobRecord[])
      if (!top || dueMs(top) > nowMs) continue
      return best && band === last && !before(top, best) ? best : top
    }
    return best
  }

  return {
    add: (job) => push(heapOf(job), job),
    first: ({ queues, kinds, solo }, nowMs) => {
      let best: JobRecord | null = null
      for (const queue of queues) {
        const byKind = lanes.get(queue)
        if (!byKind) continue
        for (const kind of kinds) {
          const lane = byKind.get(kind)
          if (lane) best = better(best, lane, solo ? bands : 0, nowMs)
        }
      }
      return best
    },
    earliestMs: (queue) => {
      let earliestMs = Number.POSITIVE_INFINITY
      for (const heap of [...(lanes.get(queue)?.values() ?? [])].flat()) {
        const top = head(heap)
        if (top) earliestMs = Math.min(earliestMs, dueMs(top))
      }
      return Number.isFinite(earliestMs) ? earliestMs : null
    },
    remove: (job) => {
      const heap = heapOf(job)
      if (heap[0] === job) pop(heap)
    },
    clear: () => lanes.clear(),
  }
}

/** Whether `a` is claimed before `b`, both due and in one band. */
export function before(a: JobRecord, b: JobRecord): boolean {
  const [x, y] = [dueMs(a), dueMs(b)]
  return x < y || (x === y && a.seq < b.seq)
}

function dueMs(job: JobRecord): number {
  return job.visibleAtMs ?? Number.POSITIVE_INFINITY
}

function push(heap: JobRecord[], job: JobRecord): void {
  let at = heap.push(job) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!before(job, heap[parent] as JobRecord)) break
    heap[at] = heap[parent] as JobRecord
    at = parent
  }
  heap[at] = job
}

function pop(heap: JobRecord[]): void {
  const last = heap.pop() as JobRecord
  const length = heap.length
  if (length === 0) return
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= length) break
    if (child + 1 < length && before(heap[child + 1] as JobRecord, heap[child] as JobRecord)) child += 1
    if (!before(heap[child] as JobRecord, last)) break
    heap[at] = heap[child] as JobRecord
    at = child
  }
  heap[at] = last
}
