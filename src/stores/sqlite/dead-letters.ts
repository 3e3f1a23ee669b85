import { discarded, firstEpoch, replayed } from '../../engine/jobs/transitions.ts'
import type {
  DeadLetterPage,
  DeadLetterQuery,
  DiscardReply,
  ReplayParams,
  ReplayReply,
  Replayed,
} from '../../engine/ports/dead-letters.ts'
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
import { relabelled } from '../labels.ts'
import { movingJob, putClosed } from './moving.ts'
import { failedState, jobsOf, queuedState, selectJobs } from './rows.ts'
import type { Operation } from './statements.ts'
import { timelineOf } from './timeline.ts'

/** A walk along the index of dead letters, which has nothing else in it. */
const page = `${selectJobs} where j.dead_at is not null and +j.state = ${failedState} and (j.dead_at, j.seq) > (?, ?) and j.dead_at < ?
  and (? is null or j.kind in (select value from json_each(?)))
  and (? is null or j.queue in (select value from json_each(?)))
  order by j.dead_at, j.seq limit ? + 0`

export function list(operation: Operation, query: DeadLetterQuery): DeadLetterPage {
  const { cursor, beforeMs = Number.MAX_SAFE_INTEGER } = query
  const limit = listLimit(query)
  const { atMs, seq } = placeAt(cursor)
  if (limit <= 0) return { jobs: [], next: null }
  const [kinds, queues] = [query.kinds, query.queues].map((names) =>
    names ? JSON.stringify(names) : null,
  ) as [string | null, string | null]
  const found = jobsOf(operation, page, atMs, seq, beforeMs, kinds, kinds, queues, queues, limit + 1)
  return pageOf(found, limit)
}

export function replay(operation: Operation, params: ReplayParams): ReplayReply {
  requireReplays(params)
  const { replays, ...how } = params
  const epoch = firstEpoch(timelineOf(operation))
  return { results: replays.map((entry) => replayOne(operation, { ...entry, ...how, epoch })) }
}

type Replay = Omit<ReplayParams, 'replays'> & ReplayParams['replays'][number] & { readonly epoch: number }

const isThere = 'select 1 from holdfast_body where id = ?'

function replayOne(operation: Operation, replay: Replay): Replayed {
  const { id, as, command, beforeMs } = replay
  const job = movingJob(operation, id)
  const marked = job && replayed(job, as, command, operation.nowMs)
  if (!job || !marked) return standing(job, command)
  if (!diedBefore(job, beforeMs)) return { kind: 'later' }
  if (operation.query(isThere).get(as)) return { kind: 'taken' }
  copy(operation, { ...replay, seq: job.seq })
  putClosed(operation, marked)
  return { kind: 'replayed', as }
}

const labelsOf = 'select labels from holdfast_body where seq = ?'
const copyJob = `insert into holdfast_job (queue, kind, band, state, solo, epoch, attempt, failures, evictions,
    version, visible_at, updated_at)
  select queue, kind, band, ${queuedState}, 0, ?, 0, 0, 0, 1, holdfast_now(), holdfast_now() from holdfast_job where seq = ?`
/** In the body of the new job; all else is as it was, in columns of a newer release too. */
const ownColumns: Readonly<Record<string, string>> = {
  seq: '?',
  id: '?',
  labels: '?',
  insert_id: '?',
  created_at: 'holdfast_now()',
}
const bodyColumns = `select name from pragma_table_info('holdfast_body') where name not in (select value from json_each(?))`
function copyBody({ query }: Operation): string {
  const own = Object.keys(ownColumns)
  const others = query<[name: string]>(bodyColumns)
    .all(JSON.stringify(own))
    .map(([name]) => `"${name}"`)
  return `insert into holdfast_body (${[...own, ...others].join(', ')})
    select ${[...Object.values(ownColumns), ...others].join(', ')} from holdfast_body where seq = ?`
}
const copyKeys = `insert into holdfast_lookup (key, seq)
  select k.value, b.seq from holdfast_body b cross join json_each(b.labels, '$.keys') k where b.seq = ?`

/** `created` of what `replayOf` says, from row to row: what this release does not know of comes along. */
function copy(
  operation: Operation,
  { seq, id, as, command, epoch }: Replay & { readonly seq: number },
): void {
  const labels = operation.query<[labels: string | null]>(labelsOf).get(seq)?.[0] ?? null
  const { lastInsertRowid } = operation.command(copyJob).run(epoch, seq)
  const own = Number(lastInsertRowid)
  operation.command(copyBody(operation)).run(own, as, relabelled(labels, id), command, seq)
  operation.command(copyKeys).run(own)
}

export function discard(operation: Operation, { ids }: { readonly ids: readonly string[] }): DiscardReply {
  requireFew(ids.length)
  const results = ids.map((id) => {
    const job = movingJob(operation, id)
    const changed = job && discarded(job, operation.nowMs)
    if (changed) putClosed(operation, changed)
    return undiscarded(changed ?? job)
  })
  return { results }
}
