import {
  type LogAppend,
  type LogLevel,
  type LogLine,
  type LogPage,
  logLinesMax,
} from '../../engine/ports/logs.ts'
import type { Fenced } from '../../engine/ports/store.ts'
import { requireLines } from '../log-lines.ts'
import { runningState, stateOf } from './rows.ts'
import type { Operation } from './statements.ts'

const running = `select j.seq, l.next, l.epoch, l.line from holdfast_body b join holdfast_job j on j.seq = b.seq
  left join holdfast_log l on l.seq = j.seq where b.id = ? and j.state = ${runningState} and j.epoch = ?
  and j.seq = coalesce(?, j.seq)`
const put = `insert into holdfast_log_line (seq, n, at, epoch, level, text) values (?, ?, ?, ?, ?, ?)`
const head = `insert into holdfast_log (seq, next, epoch, line) values (?, ?, ?, ?)
  on conflict (seq) do update set next = excluded.next, epoch = excluded.epoch, line = excluded.line`
const trim = 'delete from holdfast_log_line where seq = ? and n < ?'

type Head = [seq: number, next: number | null, epoch: number | null, line: number | null]

export function append(
  { query, command, nowMs }: Operation,
  { id, epoch, seq: of, lines }: LogAppend,
): Fenced {
  requireLines(lines)
  const row = query<Head>(running).get(id, epoch, of ?? null)
  if (!row) return { applied: false }
  const [seq, before, lastEpoch, lastLine] = row
  let next = before ?? 0
  let taken = lastEpoch === epoch ? (lastLine as number) : -1
  for (const { line, level, text } of lines) {
    if (line <= taken) continue
    command(put).run(seq, next, nowMs, epoch, level, text)
    next += 1
    taken = line
  }
  command(head).run(seq, next, epoch, taken)
  command(trim).run(seq, next - logLinesMax)
  return { applied: true }
}

type About = [seq: number, state: number, next: number | null, first: number | null]
const about = `select j.seq, j.state, l.next, (select min(n) from holdfast_log_line where seq = j.seq)
  from holdfast_body b join holdfast_job j on j.seq = b.seq left join holdfast_log l on l.seq = j.seq where b.id = ?`
type LineRow = [n: number, atMs: number, epoch: number, level: string, text: string]
const lines = `select n, at, epoch, level, text from holdfast_log_line where seq = ? and n >= ? order by n limit ?`

export function page(
  operation: Operation,
  { id, from, limit }: { readonly id: string; readonly from: number; readonly limit: number },
): LogPage {
  return pageOf(operation, id, () => from, limit)
}

export function tail(
  operation: Operation,
  { id, limit }: { readonly id: string; readonly limit: number },
): LogPage {
  return pageOf(operation, id, (next) => next - limit, limit)
}

function pageOf({ query }: Operation, id: string, from: (next: number) => number, limit: number): LogPage {
  const row = query<About>(about).get(id)
  if (!row) return { lines: [], total: 0, dropped: 0, state: null }
  const [seq, state, head, first] = row
  const next = head ?? 0
  const found = query<LineRow>(lines).all(seq, from(next), Math.max(0, limit))
  return { lines: found.map(lineOf), total: next, dropped: first ?? next, state: stateOf(state) }
}

export function lineOf([n, atMs, epoch, level, text]: LineRow): LogLine {
  return { n, atMs, epoch, level: level as LogLevel, text }
}
