import { created, discarded, replayOf, replayed } from '../../engine/jobs/transitions.ts'
import type {
  DeadLetterPage,
  DeadLetterQuery,
  DiscardReply,
  ReplayParams,
  ReplayReply,
  Replayed,
} from '../../engine/ports/dead-letters.ts'
import type { JobRecord } from '../../engine/jobs/record.ts'
import {
  diedBefore,
  listLimit,
  pageOf,
  placeAt,
  requireFew,
  requireReplays,
  standing,
  undiscarded,
} from '../dead-letters.ts'
import { type Content, put } from './content.ts'

export function list({ jobs, dead }: Content, query: DeadLetterQuery): DeadLetterPage {
  const { cursor, kinds, queues, beforeMs = Infinity } = query
  const after = placeAt(cursor)
  const found = [...dead]
    .map((id) => jobs.get(id) as JobRecord)
    .filter((job) => {
      const { deadAtMs, seq, spec } = job
      return (
        deadAtMs !== null &&
        (deadAtMs > after.atMs || (deadAtMs === after.atMs && seq > after.seq)) &&
        deadAtMs < beforeMs &&
        (kinds?.includes(spec.kind) ?? true) &&
        (queues?.includes(spec.queue) ?? true)
      )
    })
    .sort((a, b) => (a.deadAtMs ?? 0) - (b.deadAtMs ?? 0) || a.seq - b.seq)
  return pageOf(found, listLimit(query))
}

export function replay(content: Content, params: ReplayParams, nowMs: number): ReplayReply {
  requireReplays(params)
  const { replays, ...how } = params
  return { results: replays.map((entry) => replayOne(content, { ...entry, ...how }, nowMs)) }
}

function replayOne(
  content: Content,
  { id, as, command, beforeMs }: Omit<ReplayParams, 'replays'> & ReplayParams['replays'][number],
  nowMs: number,
): Replayed {
  const { jobs, insertIds, timeline } = content
  const job = jobs.get(id) ?? null
  const marked = job && replayed(job, as, command, nowMs)
  if (!job || !marked) return standing(job, command)
  if (!diedBefore(job, beforeMs)) return { kind: 'later' }
  if (jobs.has(as)) return { kind: 'taken' }
  put(content, created(replayOf(job, as), ++content.seq, nowMs, { nowMs, timeline }))
  insertIds.set(as, command)
  put(content, marked)
  return { kind: 'replayed', as }
}

export function discard(
  content: Content,
  { ids }: { readonly ids: readonly string[] },
  nowMs: number,
): DiscardReply {
  requireFew(ids.length)
  const results = ids.map((id) => {
    const job = content.jobs.get(id) ?? null
    const changed = job && discarded(job, nowMs)
    if (changed) put(content, changed)
    return undiscarded(changed ?? job)
  })
  return { results }
}
