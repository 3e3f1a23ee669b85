import type {
  DeadLetterPage,
  DeadLetterQuery,
  DiscardReply,
  ReplayParams,
  ReplayReply,
  Replayed,
} from '../../../engine/ports/dead-letters.ts'
import type { JobState } from '../../../engine/jobs/record.ts'
import {
  pageOf,
  placeAt,
  relabelled,
  requireFew,
  requireReplays,
  standing,
  undiscarded,
} from '../../dead-letters.ts'
import { time } from '../clock.ts'
import type { Database, Session } from '../database.ts'
import { few } from '../plan.ts'
import { firstEpoch, noted, recordsOf, selectRecords, stateOf } from '../rows.ts'
import { toldOf } from '../wake.ts'

/** A walk along the index of dead letters, which has nothing else in it. */
const page = `${selectRecords} where j.dead_at is not null and (j.dead_at, j.seq) > ($1::bigint, $2::bigint)
  and j.dead_at < $3::bigint and ($4::text[] is null or j.kind = any($4::text[]))
  and ($5::text[] is null or j.queue = any($5::text[]))
  order by j.dead_at, j.seq limit $6::bigint`

export async function list(session: Session, query: DeadLetterQuery): Promise<DeadLetterPage> {
  const { limit, cursor, kinds = null, queues = null, beforeMs = Number.MAX_SAFE_INTEGER } = query
  const { atMs, seq } = placeAt(cursor)
  if (limit <= 0) return { jobs: [], cursor: null }
  const rows = await session.query(page, [atMs, seq, beforeMs, kinds, queues, limit + 1])
  return pageOf(recordsOf(rows), limit)
}

/** The jobs of `ids` in the order of their sequence, as settles lock them too; what nobody knows has no row. */
const given = `given as materialized (select g.n, b.seq from unnest($1::text[]) with ordinality as g(id, n)
  cross join lateral (select b.seq from holdfast.body b where b.id = g.id offset 0) b
  where ${few('g.n')} order by b.seq)`

/** It waits for whoever is writing a row, and then reads what that has written. */
const lock = `with ${given}
select g.n, j.seq, j.state, j.dead_at is not null, j.replayed_as, j.last_command, b.labels
  from given g join holdfast.job j on j.seq = g.seq join holdfast.body b on b.seq = g.seq
  order by g.seq for update of j`

/**
 * `created` of what `replayOf` says, from row to row, so that what this release does not know of comes along; and
 * `replayed`, of those whose new id was free. Bodies go in by id, as they do in an insert, when all locks on jobs are
 * held: what waits for one holds no other that somebody waits for in turn.
 */
const copy = `with ${time},
given as materialized (select nextval('holdfast.job_seq') as seq, g.dead, g.id, g.labels, g.n
  from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[]) as g(dead, id, labels, n) where ${few('g.n')} order by g.n),
bodies as (insert into holdfast.body
    (seq, lease_ttl_ms, bound_ms, enqueued_at, created_at, id, spec, labels, metadata, traceparent, insert_id, input)
  select g.seq, b.lease_ttl_ms, b.bound_ms, b.enqueued_at, t.ms, g.id, b.spec, g.labels, b.metadata, b.traceparent,
    $5, b.input
  from given g join holdfast.body b on b.seq = g.dead cross join t order by g.id collate "C"
  on conflict (id) do nothing returning seq),
added as materialized (select g.* from bodies join given g using (seq)),
jobs as (insert into holdfast.job (seq, visible_at, version, updated_at, kind_key, epoch, attempt, failures, evictions,
    band, state, place, queue, kind)
  select g.seq, t.ms, 1, t.ms, j.kind_key, ${firstEpoch}, 0, 0, 0, j.band, 0, 0, j.queue, j.kind
  from added g join holdfast.job j on j.seq = g.dead cross join t order by g.seq),
found as (insert into holdfast.lookup (key, seq)
  select k.key, g.seq from added g cross join lateral json_array_elements_text(g.labels::json->'keys') as k(key)),
marked as (update holdfast.job j set dead_at = null, replayed_as = g.id, version = j.version + 1, updated_at = t.ms,
    last_command = $5, events = ${noted('replayed')}
  from added g, t where j.seq = g.dead returning g.n, j.queue)
select json_agg(n)::text, ${toldOf('$6', 'marked')} from marked`

type Locked = [
  n: number,
  seq: number,
  state: number,
  dead: boolean,
  replayedAs: string | null,
  lastCommand: string | null,
  labels: string | null,
]

export async function replay(
  database: Database,
  params: ReplayParams,
  channel: string | null,
): Promise<ReplayReply> {
  requireReplays(params)
  if (params.replays.length === 0) return { results: [] }
  return database.transaction('common', (session) => replayWithin(session, params, channel))
}

async function replayWithin(
  session: Session,
  { replays, command }: ReplayParams,
  channel: string | null,
): Promise<ReplayReply> {
  const rows = await session.query<Locked>(lock, [replays.map(({ id }) => id)])
  const locked = new Map(rows.map((row) => [row[0] - 1, row]))
  const open = rows.filter(([, , , dead]) => dead)
  const added = new Set<number>()
  if (open.length > 0) {
    const [row] = await session.query<[added: string | null]>(copy, [
      open.map(([, seq]) => seq),
      open.map(([n]) => asOf(n)),
      open.map(([n, , , , , , labels]) => relabelled(labels, (replays[n - 1] as Named).id)),
      open.map(([n]) => n),
      command,
      channel,
    ])
    for (const n of JSON.parse(row?.[0] ?? '[]') as number[]) added.add(n - 1)
  }
  return { results: replays.map(({ as }, n) => resultOf(locked.get(n), added.has(n) ? as : null)) }

  function asOf(n: number): string {
    return (replays[n - 1] as Named).as
  }

  function resultOf(row: Locked | undefined, as: string | null): Replayed {
    if (as !== null) return { kind: 'replayed', as }
    if (row?.[3]) return { kind: 'taken' }
    return standing(row ? { state: stateOf(row[2]), replayedAs: row[4], lastCommand: row[5] } : null, command)
  }
}
type Named = ReplayParams['replays'][number]

/** `discarded`. */
const discardThem = `with ${time}, ${given}
  update holdfast.job j set dead_at = null, version = j.version + 1, updated_at = t.ms, events = ${noted('discarded')}
  from given g, t where j.seq = g.seq and j.dead_at is not null returning g.n`

const stands = `select b.id, j.state, j.replayed_as
  from holdfast.body b join holdfast.job j on j.seq = b.seq where b.id = any($1::text[])`

export async function discard(
  session: Session,
  { ids }: { readonly ids: readonly string[] },
): Promise<DiscardReply> {
  requireFew(ids.length)
  const done = new Set((await session.query<[n: number]>(discardThem, [ids])).map(([n]) => ids[n - 1]))
  const rest = ids.filter((id) => !done.has(id))
  const others = new Map<string, { readonly state: JobState; readonly replayedAs: string | null }>()
  if (rest.length > 0) {
    type Row = [id: string, state: number, replayedAs: string | null]
    for (const [id, state, replayedAs] of await session.query<Row>(stands, [rest])) {
      others.set(id, { state: stateOf(state), replayedAs })
    }
  }
  return {
    results: ids.map((id) => (done.has(id) ? { kind: 'discarded' } : undiscarded(others.get(id) ?? null))),
  }
}
