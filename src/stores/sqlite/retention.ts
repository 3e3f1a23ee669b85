import { isSpent } from '../../engine/jobs/spent.ts'
import { type SweepParams, type SweepReply, sweepLimitMax } from '../../engine/ports/retention.ts'
import { logLinesMax } from '../../engine/ports/logs.ts'
import { goingAtOnce, isYoung } from '../retention.ts'
import { parsed, stateOf } from './rows.ts'
import type { Operation } from './statements.ts'

/**
 * The next jobs in order of insertion, which is that of both tables: no index on when jobs end has to be kept for
 * this (decision 0023). No input is read: it comes last in its row.
 */
const page = `select j.seq, b.id, j.state, j.finished_at, j.dead_at, b.keep_ms, b.created_at, b.labels
  from holdfast_job j join holdfast_body b on b.seq = j.seq where j.seq > cast(? as integer)
  order by j.seq limit ? + 0`

type Row = readonly [
  seq: number,
  id: string,
  state: number,
  finishedAtMs: number | null,
  deadAtMs: number | null,
  keepMs: number,
  createdAtMs: number,
  labels: string | null,
]

export function sweep(
  operation: Operation,
  { after, limit, deadLetterMs, olderMs }: SweepParams,
): SweepReply {
  const { query, nowMs } = operation
  const most = Math.min(limit, sweepLimitMax)
  if (most <= 0) return { removed: [], looked: 0, after: null }
  const rows = query<Row>(page).all(after ?? '0', most)
  const young = rows.findIndex((row) => isYoung(row[6], olderMs, nowMs))
  const looked = young < 0 ? rows : rows.slice(0, young)
  const spent = looked.filter(([, , state, finishedAtMs, deadAtMs, keepMs]) =>
    isSpent({ spec: { keepMs }, state: stateOf(state), finishedAtMs, deadAtMs }, deadLetterMs, nowMs),
  )
  const going = goingAtOnce(linesOf(operation, spent))
  const left = spent[going]
  const seen = left ? looked.slice(0, looked.indexOf(left)) : looked
  const gone = spent.slice(0, going)
  if (gone.length > 0) forget(operation, gone)
  const last = left || looked.length === most ? seen.at(-1) : undefined
  return { removed: gone.map(([, id]) => id), looked: seen.length, after: last ? String(last[0]) : null }
}

const logs = 'select seq, min(next, ?) from holdfast_log where seq in (select value from json_each(?))'

function linesOf({ query }: Operation, rows: readonly Row[]): number[] {
  if (rows.length === 0) return []
  const lines = new Map(
    query<[seq: number, lines: number]>(logs).all(logLinesMax, JSON.stringify(rows.map(([seq]) => seq))),
  )
  return rows.map(([seq]) => lines.get(seq) ?? 0)
}

/** The tables in which rows hang on a job by its sequence. */
const parts = ['holdfast_checkpoint', 'holdfast_log', 'holdfast_log_line', 'holdfast_body', 'holdfast_job']
const forgetKey = 'delete from holdfast_lookup where key = ? and seq = ?'

/** A statement for each table: one for each row of each would keep everybody else waiting three times as long. */
function forget({ command }: Operation, rows: readonly Row[]): void {
  // What a job is found by is in the order of the keys, so that it is found here by what the job says of itself.
  for (const [seq, , , , , , , labels] of rows) {
    const { keys } = parsed<{ readonly keys: readonly string[] }>(labels) ?? { keys: [] }
    for (const key of keys) command(forgetKey).run(key, seq)
  }
  const seqs = JSON.stringify(rows.map(([seq]) => seq))
  for (const table of parts) {
    command(`delete from ${table} where seq in (select value from json_each(?))`).run(seqs)
  }
}

const lapsed = 'select key from holdfast_named where expires_at <= ? order by expires_at, key limit ? + 0'

export function sweepLeases(
  { query, command, nowMs }: Operation,
  { limit, lapsedMs }: { readonly limit: number; readonly lapsedMs: number },
): { readonly removed: number } {
  if (limit <= 0) return { removed: 0 }
  const keys = query<[key: string]>(lapsed).all(nowMs - lapsedMs, limit)
  for (const [key] of keys) command('delete from holdfast_named where key = ?').run(key)
  return { removed: keys.length }
}
