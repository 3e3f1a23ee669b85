import type {
  DueSchedules,
  FireReply,
  FireSchedule,
  PauseSchedule,
  PutSchedule,
  PutScheduleReply,
  ScheduleRow,
} from '../../../engine/ports/schedules.ts'
import { nowMs, time } from '../clock.ts'
import type { Database, Session } from '../database.ts'
import { insertAbsent } from './insert.ts'

type Row = [
  key: string,
  version: string,
  spec: string,
  paused: boolean,
  nextAt: number | null,
  lastAt: number | null,
  madeAt: number,
]
const columns = 'key, version, spec, paused, next_at, last_at, made_at'
const select = `select ${columns} from holdfast.schedule`

function rowOf([key, version, spec, paused, nextAtMs, lastAtMs, madeAtMs]: Row): ScheduleRow {
  return { key, version, spec, paused, nextAtMs, lastAtMs, madeAtMs }
}

export async function get(session: Session, { key }: { readonly key: string }): Promise<ScheduleRow | null> {
  const [row] = await session.query<Row>(`${select} where key = $1`, [key])
  return row ? rowOf(row) : null
}

export async function all(session: Session): Promise<ScheduleRow[]> {
  return (await session.query<Row>(`${select} order by key`)).map(rowOf)
}

export async function list(
  session: Session,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Promise<{ readonly schedules: readonly ScheduleRow[] }> {
  // No key is empty, so all come after the empty one.
  const behind = `${select} where key > $1 order by key limit $2`
  return { schedules: (await session.query<Row>(behind, [after ?? '', limit])).map(rowOf) }
}

const add = `insert into holdfast.schedule (key, version, next_at, last_at, made_at, paused, spec)
  values ($1, $2, $3::bigint, null, ${nowMs}, false, $4) on conflict (key) do nothing returning 1`
const change = `update holdfast.schedule set version = $2, next_at = $3::bigint, spec = $4
  where key = $1 and version = $5 and spec <> $4 returning 1`

/** Where it did not apply, a second statement tells why: it sees what was committed while the first one waited. */
export async function put(
  session: Session,
  { key, version, command, spec, nextAtMs }: PutSchedule,
): Promise<PutScheduleReply> {
  const stated = [key, command, nextAtMs, spec]
  const rows =
    version === null ? await session.query(add, stated) : await session.query(change, [...stated, version])
  if (rows.length === 1) return { kind: 'put' }
  const there = await get(session, { key })
  if (there?.version === command) return { kind: 'put' }
  return { kind: there?.spec === spec ? 'same' : 'refused' }
}

export async function remove(
  session: Session,
  { key }: { readonly key: string },
): Promise<{ readonly removed: boolean }> {
  const rows = await session.query('delete from holdfast.schedule where key = $1 returning 1', [key])
  return { removed: rows.length === 1 }
}

const switchIt = `update holdfast.schedule set version = $3, paused = $4,
    next_at = case when $5 then $6::bigint else next_at end
  where key = $1 and version = $2 returning 1`

export async function pause(
  session: Session,
  { key, version, command, paused, nextAtMs }: PauseSchedule,
): Promise<{ readonly applied: boolean }> {
  const params = [key, version, command, paused, nextAtMs !== undefined, nextAtMs ?? null]
  if ((await session.query(switchIt, params)).length === 1) return { applied: true }
  return { applied: (await get(session, { key }))?.version === command }
}

/** Of one row more than there are: the next one, or none. */
const look = `with ${time},
due as (select ${columns} from holdfast.schedule cross join t
  where not paused and next_at <= t.ms order by next_at, key limit $1)
select t.ms, (select min(s.next_at) from holdfast.schedule s where not s.paused and s.next_at > t.ms) - t.ms,
  ${columns} from t left join due on true order by next_at, key`

export async function due(session: Session, { limit }: { readonly limit: number }): Promise<DueSchedules> {
  type Answer = [nowMs: number, nextInMs: number | null, ...row: Row | null[]]
  const rows = await session.query<Answer>(look, [Math.max(0, limit)])
  const [now, nextInMs] = rows[0] as Answer
  const found = rows.map(([, , ...row]) => row as Row).filter(([key]) => (key as string | null) !== null)
  return { nowMs: now, schedules: found.map(rowOf), nextInMs }
}

/** `$4`: the latest of the slots, or null. Whoever waited for another firing finds another version. */
const move = `with ${time}
  update holdfast.schedule s set version = $3, next_at = $5::bigint, last_at = coalesce($4::bigint, s.last_at)
  from t where s.key = $1 and s.version = $2 and not s.paused and coalesce($4::bigint, t.ms) <= t.ms returning 1`

export function fire(database: Database, params: FireSchedule, channel: string | null): Promise<FireReply> {
  const { key, version, command, slots, nextAtMs } = params
  const lastAtMs = slots.length === 0 ? null : Math.max(...slots.map(({ atMs }) => atMs))
  return database.transaction('common', async (session) => {
    const moved = await session.query(move, [key, version, command, lastAtMs, nextAtMs])
    if (moved.length === 0) return unmoved(session, params)
    const jobs = slots.map(({ job }) => job)
    return { kind: 'fired', created: await insertAbsent(session, { insertId: command, jobs }, channel) }
  })
}

async function unmoved(session: Session, { key, version, command }: FireSchedule): Promise<FireReply> {
  const there = await get(session, { key })
  if (there?.version === command) return { kind: 'stands' }
  return { kind: there?.version === version && !there.paused ? 'early' : 'lost' }
}
