import { StoreUnavailable } from '../errors.ts'
import { type Enqueued, type Prepared, type Producer, answers, insert, insertAll, placeOf } from './insert.ts'

/**
 * Jobs that are enqueued one by one, inserted together: what comes while an insert is in flight goes with the next.
 * What comes alone is sent at once. Each is durable before its promise resolves, and is answered for itself: one
 * that is refused takes none of the others with it. Of an insert that nobody answered, nobody knows anything.
 */
export interface Coalescer {
  /** Rejects as `insertAll` of this one job does. */
  add(job: Prepared): Promise<Enqueued>
}

const groupMax = 500
/** Of their inputs, in UTF-16 units. A larger one goes alone. */
const groupLengthMax = 1_048_576

/** How many steps a caller may need from its answer to its next call: a few dozen, which take microseconds. */
const turns = 40

interface Waiting {
  readonly job: Prepared
  readonly resolve: (enqueued: Enqueued) => void
  readonly reject: (error: unknown) => void
}

export function createCoalescer(producer: Producer): Coalescer {
  const place = placeOf(producer, undefined)
  const pending: Waiting[] = []
  let sending = false

  async function run(): Promise<void> {
    sending = true
    while (pending.length > 0) {
      await send(pending.splice(0, sizeOf(pending)))
      await othersTurn()
    }
    sending = false
  }

  async function send(group: readonly Waiting[]): Promise<void> {
    const [first] = group
    if (!first) return
    if (group.length === 1) return alone(first)
    const jobs = group.map(({ job }) => job)
    try {
      const reply = await insert(producer, place, jobs)
      if (reply.kind === 'conflict') return await apart(group, new Set(reply.ids))
      for (const [k, enqueued] of answers(jobs, reply.jobs).entries()) group[k]?.resolve(enqueued)
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        for (const { reject } of group) reject(error)
        return
      }
      // The store will not take them as they are: find by halves the one it will not take.
      const half = group.length >> 1
      await send(group.slice(0, half))
      await send(group.slice(half))
    }
  }

  /** Nothing was inserted: the others go without those that are in the way, each of which gets its own answer. */
  async function apart(group: readonly Waiting[], clashing: ReadonlySet<string>): Promise<void> {
    await send(group.filter(({ job }) => !clashing.has(job.spec.id)))
    for (const waiting of group) if (clashing.has(waiting.job.spec.id)) await alone(waiting)
  }

  async function alone({ job, resolve, reject }: Waiting): Promise<void> {
    try {
      const [enqueued] = await insertAll(producer, [job], undefined)
      resolve(enqueued as Enqueued)
    } catch (error) {
      reject(error)
    }
  }

  return {
    add: (job) =>
      new Promise((resolve, reject) => {
        pending.push({ job, resolve, reject })
        if (!sending) void run()
      }),
  }
}

/**
 * Lets those who were answered enqueue again, so that they go with the next insert. Else the first of ten callers
 * would always go alone, and the other nine after it.
 */
async function othersTurn(): Promise<void> {
  for (let n = 0; n < turns; n++) await Promise.resolve()
}

/** How many go together, of those that wait, in their order. The second of two with one id is another insert. */
function sizeOf(pending: readonly Waiting[]): number {
  const ids = new Set<string>()
  let length = 0
  for (const { job } of pending) {
    const { id, input } = job.spec
    length += input.length
    if (ids.size === groupMax || ids.has(id) || (ids.size > 0 && length > groupLengthMax)) break
    ids.add(id)
  }
  return ids.size
}
