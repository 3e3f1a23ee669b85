import type { QueueAge } from '../../engine/ports/store.ts'
import { queuedState } from './rows.ts'
import type { Operation } from './statements.ts'

/**
 * The first of one queue, from the indexes of a claim, where each kind and band has its own order: so the kinds
 * are found by leaping from one to the next, and of each band only the head is read, however long the backlog.
 */
const heads = (solo: 0 | 1): string => `with recursive
  kinds (kind) as (
    select min(kind) from holdfast_job where state = ${queuedState} and solo = ${solo} and queue = (select queue from asked)
    union all
    select (select min(j.kind) from holdfast_job j
      where j.state = ${queuedState} and j.solo = ${solo} and j.queue = (select queue from asked) and j.kind > kinds.kind)
    from kinds where kinds.kind is not null),
  bands (band) as (values (0), (1), (2), (3))
  select min((select min(j.visible_at) from holdfast_job j
    where j.state = ${queuedState} and j.solo = ${solo} and j.queue = (select queue from asked) and j.kind = kinds.kind and j.band = bands.band))
  from kinds, bands where kinds.kind is not null`
const first = `with asked (queue) as (values (?))
  select min(coalesce(a, b), coalesce(b, a)) from (select (${heads(0)}) as a, (${heads(1)}) as b)`

export function queueAges(
  { query, nowMs }: Operation,
  { queues }: { readonly queues: readonly string[] },
): readonly QueueAge[] {
  return queues.map((queue) => {
    const sinceMs = query<[sinceMs: number | null]>(first).get(queue)?.[0] ?? null
    return { queue, oldestDueMs: sinceMs !== null && sinceMs <= nowMs ? nowMs - sinceMs : null }
  })
}
