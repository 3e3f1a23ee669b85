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
  listLimit,
  listedMax,
  pageOf,
  placeAt,
  requireFew,
  requireReplays,
  standing,
  undiscarded,
} from '../../dead-letters.ts'
import { relabelled } from '../../labels.ts'
import { time } from '../clock.ts'
import type { Database, Session } from '../database.ts'
import { few } from '../plan.ts'
import { firstEpoch, noted, recordsOf, selectRecords, stateOf } from '../rows.ts'
import { toldOf } from '../wake.ts'

/**
 * A walk along the index of dead letters, which has nothing else in it. The bound that is written out, and conditions
 * only where there are some, make it one, not a sort of all there are, also in a plan for any parameters; what is
 * beyond the limit is not read.
 */
function pageSql(lanes: readonly string[]): string {
  const where = lanes.map((column, n) => ` and j.${column} = any($${n + 5}::text[])`).join('')
  return `select * from (${selectRecords} where j.dead_at is not null and j.state = 3 and j.dead_at < $3::bigint
    and (j.dead_at, j.seq) > ($1::bigint, $2::bigint)${where}
    order by j.dead_at, j.seq limit ${listedMax + 1}) page limit $4::bigint`
}

export async function list(session: Session, query: DeadLetterQuery): Promise<DeadLetterPage> {
  const { cursor, kinds, queues, beforeMs = Number.MAX_SAFE_INTEGER } = query
  const limit = listLimit(query)
  const { atMs, seq } = placeAt(cursor)
  if (limit <= 0) return { jobs: [], next: null }
  const lanes = Object.entries({ kind: kinds, queue: queues }).filter(([, names]) => names !== undefined)
  const names = lanes.map(([, these = []]) => these)
  const sql = pageSql(lanes.map(([column]) => column))
  const rows = await session.query(sql, [atMs, seq, beforeMs, limit + 1, ...names])
  return pageOf(recordsOf(rows), limit)
}

/** The jobs of `ids` in the order of their sequence, as settles lock them too; what nobody knows has no row. */
const given = `given as materialized (select g.n, b.seq from unnest($1::text[]) with ordinality as g(id, n)
  cross join lateral (select b.seq from holdfast.body b where b.id = g.id offset 0) b
  where ${few('g.n')} order by b.seq)`

/** It waits for whoever is writing a row, and then reads what that has written. */
const lock = `with ${given}
select g.n, j.seq, j.state, j.dead_at is not null and j.state = 3, j.replayed_as, j.last_command, b.labels,
  j.dead_at >= $2::bigint
  from given g join holdfast.job j on j.seq = g.seq join holdfast.body b on b.seq = g.seq
  order by g.seq for update of j`

/**
 * `created` of what `replayOf` says, from row to row, so that what this release does not know of comes along, in columns
 * of a newer one too: a row of the table is made anew, of which only these five are its own. Bodies go
 * in by id, as they do in an insert, when all locks on jobs are held: what waits for one holds no other that somebody
 * waits for in turn. An id that is taken is left out.
 */
const copyBodies = `with ${time},
given as materialized (select nextval('holdfast.job_seq') as seq, g.dead, g.id, g.labels
  from unnest($1::bigint[], $2::text[], $3::text[]) with ordinality as g(dead, id, labels, n)
  where ${few('g.n')} order by g.n)
insert into holdfast.body
  select r.* from given g join holdfast.body b on b.seq = g.dead cross join t
  cross join lateral json_populate_record(b, json_build_object(
    'seq', g.seq, 'id', g.id, 'labels', g.labels, 'insert_id', $4::text, 'created_at', t.ms)) r
  order by g.id collate "C"
  on conflict (id) do nothing returning id, seq`

/** The rest of those whose id was free, and `replayed`: `dead` was locked, `seq` replays it under `id`. */
const copyJobs = `with ${time},
given as materialized (select g.* from unnest($1::bigint[], $2::bigint[], $3::text[]) with ordinality as g(dead, seq, id, n)
  where ${few('g.n')} order by g.n),
jobs as (insert into holdfast.job (seq, visible_at, version, updated_at, kind_key, epoch, attempt, failures, evictions,
    band, state, place, queue, kind)
  select g.seq, t.ms, 1, t.ms, j.kind_key, ${firstEpoch}, 0, 0, 0, j.band, 0, 0, j.queue, j.kind
  from given g join holdfast.job j on j.seq = g.dead cross join t order by g.seq),
found as (insert into holdfast.lookup (key, seq)
  select k.key, g.seq from given g join holdfast.body b on b.seq = g.seq
  cross join lateral json_array_elements_text(b.labels::json->'keys') as k(key)),
marked as (update holdfast.job j set dead_at = null, replayed_as = g.id, version = j.version + 1, updated_at = t.ms,
    last_command = $4, events = ${noted('replayed')}
  from given g, t where j.seq = g.dead returning j.queue)
select ${toldOf('$5', 'marked')}`

type Locked = [
  n: number,
  seq: number,
  state: number,
  dead: boolean,
  replayedAs: string | null,
  lastCommand: string | null,
  labels: string | null,
  later: boolean | null,
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
  { replays, command, beforeMs = Number.MAX_SAFE_INTEGER }: ReplayParams,
  channel: string | null,
): Promise<ReplayReply> {
  const rows = await session.query<Locked>(lock, [replays.map(({ id }) => id), beforeMs])
  const locked = new Map(rows.map((row) => [row[0] - 1, row]))
  const open = replays.flatMap((entry, n) => {
    const row = locked.get(n)
    return row?.[3] && !row[7] ? [{ ...entry, dead: row[1], labels: row[6] }] : []
  })
  const added = await copy(session, open, command, channel)
  return {
    results: replays.map(({ as }, n): Replayed => {
      if (added.has(as)) return { kind: 'replayed', as }
      const row = locked.get(n)
      if (row?.[3]) return { kind: row[7] ? 'later' : 'taken' }
      return standing(
        row ? { state: stateOf(row[2]), replayedAs: row[4], lastCommand: row[5] } : null,
        command,
      )
    }),
  }
}

interface Open {
  readonly id: string
  readonly as: string
  readonly dead: number
  readonly labels: string | null
}

/** Answers the ids of the jobs that were made. */
async function copy(
  session: Session,
  open: readonly Open[],
  command: string,
  channel: string | null,
): Promise<ReadonlySet<string>> {
  if (open.length === 0) return new Set()
  const bodies = await session.query<[id: string, seq: number]>(copyBodies, [
    open.map(({ dead }) => dead),
    open.map(({ as }) => as),
    open.map(({ labels, id }) => relabelled(labels, id)),
    command,
  ])
  const made = new Map(bodies)
  const free = open.filter(({ as }) => made.has(as))
  if (free.length === 0) return new Set()
  await session.query(copyJobs, [
    free.map(({ dead }) => dead),
    free.map(({ as }) => made.get(as) as number),
    free.map(({ as }) => as),
    command,
    channel,
  ])
  return new Set(made.keys())
}

/** `discarded`. */
const discardThem = `with ${time}, ${given}
  update holdfast.job j set dead_at = null, version = j.version + 1, updated_at = t.ms, events = ${noted('discarded')}
  from given g, t where j.seq = g.seq and j.dead_at is not null and j.state = 3 returning g.n`

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
