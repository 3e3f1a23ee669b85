import type {
  DueSchedules,
  FireReply,
  FireSchedule,
  PauseSchedule,
  PutSchedule,
  PutScheduleReply,
  ScheduleRow,
} from '../../engine/ports/schedules.ts'
import { insertAbsent } from './insert.ts'
import type { Operation } from './statements.ts'

type Row = [
  key: string,
  version: string,
  spec: string,
  paused: number,
  nextAt: number | null,
  lastAt: number | null,
  madeAt: number,
]
const select = 'select key, version, spec, paused, next_at, last_at, made_at from holdfast_schedule'

function rowOf([key, version, spec, paused, nextAtMs, lastAtMs, madeAtMs]: Row): ScheduleRow {
  return { key, version, spec, paused: paused === 1, nextAtMs, lastAtMs, madeAtMs }
}

export function get({ query }: Operation, { key }: { readonly key: string }): ScheduleRow | null {
  const row = query<Row>(`${select} where key = ?`).get(key)
  return row ? rowOf(row) : null
}

export function all({ query }: Operation): ScheduleRow[] {
  return query<Row>(`${select} order by key`).all().map(rowOf)
}

export function list(
  { query }: Operation,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): { readonly schedules: readonly ScheduleRow[] } {
  // No key is empty, so all come after the empty one.
  const behind = query<Row>(`${select} where key > ? order by key limit ?`)
  return { schedules: behind.all(after ?? '', Math.max(0, limit)).map(rowOf) }
}

const add = `insert into holdfast_schedule (key, version, spec, paused, next_at, last_at, made_at)
  values (?, ?, ?, 0, ?, null, ?)`
const change = 'update holdfast_schedule set version = ?, spec = ?, next_at = ? where key = ?'

export function put(
  operation: Operation,
  { key, version, command, spec, nextAtMs }: PutSchedule,
): PutScheduleReply {
  const there = get(operation, { key })
  if (there?.version === command) return { kind: 'put' }
  if (there?.spec === spec) return { kind: 'same' }
  if ((there?.version ?? null) !== version) return { kind: 'refused' }
  if (there) operation.command(change).run(command, spec, nextAtMs, key)
  else operation.command(add).run(key, command, spec, nextAtMs, operation.nowMs)
  return { kind: 'put' }
}

export function remove(
  { command }: Operation,
  { key }: { readonly key: string },
): { readonly removed: boolean } {
  return { removed: command('delete from holdfast_schedule where key = ?').run(key).changes === 1 }
}

const switchIt = 'update holdfast_schedule set version = ?, paused = ?, next_at = ? where key = ?'

export function pause(
  operation: Operation,
  { key, version, command, paused, nextAtMs }: PauseSchedule,
): { readonly applied: boolean } {
  const there = get(operation, { key })
  if (there?.version === command) return { applied: true }
  if (there?.version !== version) return { applied: false }
  const next = nextAtMs === undefined ? there.nextAtMs : nextAtMs
  operation.command(switchIt).run(command, paused ? 1 : 0, next, key)
  return { applied: true }
}

const ready = `${select} where paused = 0 and next_at <= ? order by next_at, key limit ?`
const ahead = 'select min(next_at) from holdfast_schedule where paused = 0 and next_at > ?'

export function due({ query, nowMs }: Operation, { limit }: { readonly limit: number }): DueSchedules {
  const schedules = query<Row>(ready).all(nowMs, Math.max(0, limit)).map(rowOf)
  const [nextAtMs] = query<[number | null]>(ahead).get(nowMs) as [number | null]
  return { nowMs, schedules, nextInMs: nextAtMs === null ? null : nextAtMs - nowMs }
}

const move = 'update holdfast_schedule set version = ?, next_at = ?, last_at = ? where key = ?'

export function fire(
  operation: Operation,
  { key, version, command, slots, nextAtMs }: FireSchedule,
): FireReply {
  const there = get(operation, { key })
  if (there?.version === command) return { kind: 'stands' }
  if (there?.version !== version || there.paused) return { kind: 'lost' }
  if (slots.some(({ atMs }) => atMs > operation.nowMs)) return { kind: 'early' }
  const made = insertAbsent(operation, { insertId: command, jobs: slots.map(({ job }) => job) })
  const lastAtMs = slots.length === 0 ? there.lastAtMs : Math.max(...slots.map(({ atMs }) => atMs))
  operation.command(move).run(command, nextAtMs, lastAtMs, key)
  return { kind: 'fired', created: made }
}
