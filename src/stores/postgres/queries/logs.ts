import {
  type LogAppend,
  type LogLevel,
  type LogLine,
  type LogPage,
  logLinesMax,
} from '../../../engine/ports/logs.ts'
import type { Fenced } from '../../../engine/ports/store.ts'
import { requireLines } from '../../log-lines.ts'
import { nowMs } from '../clock.ts'
import type { Session } from '../database.ts'
import { stateOf } from '../rows.ts'

/** How many lines of this append are above what was taken of the attempt; lines rise, so they are its last ones. */
const fresh = `(select count(*) from unnest($3::bigint[]) x(line)
  where x.line > case when l.epoch = excluded.epoch then l.line else -1 end)`

/**
 * The fence is a shared lock on the job, as with checkpoints. Then the header is locked and looked at as it is *then*: an
 * earlier send of these lines may have committed since this statement began. It says how many are new (`taken`), and the
 * rows follow from that; nothing here reads lines.
 */
const put = `with fence as materialized (select j.seq from holdfast.job j
    where j.seq = (select b.seq from holdfast.body b where b.id = $1 and b.seq = coalesce($6::bigint, b.seq))
      and j.state = 1 and j.epoch = $2::bigint for share),
  head as (insert into holdfast.log as l (seq, next, epoch, line, taken)
    select seq, cardinality($3::bigint[]), $2::bigint, ($3::bigint[])[cardinality($3::bigint[])], cardinality($3::bigint[])
    from fence
    on conflict (seq) do update set next = l.next + ${fresh}, epoch = excluded.epoch,
      line = case when l.epoch = excluded.epoch then greatest(l.line, excluded.line) else excluded.line end,
      taken = ${fresh}
    returning seq, next, taken),
  added as (insert into holdfast.log_line (seq, n, at, epoch, level, text)
    select h.seq, h.next - cardinality($3::bigint[]) + x.n - 1, ${nowMs}, $2::bigint, x.level, x.text
    from head h cross join unnest($4::text[], $5::text[]) with ordinality as x(level, text, n)
    where x.n > cardinality($3::bigint[]) - h.taken),
  trimmed as (delete from holdfast.log_line o using head h where o.seq = h.seq and o.n < h.next - ${logLinesMax})
  select 1 from head`

export async function append(session: Session, { id, epoch, seq, lines }: LogAppend): Promise<Fenced> {
  requireLines(lines)
  const rows = await session.query(put, [
    id,
    epoch,
    lines.map(({ line }) => line),
    lines.map(({ level }) => level),
    lines.map(({ text }) => text),
    seq ?? null,
  ])
  return { applied: rows.length === 1 }
}

type LineRow = [n: number, atMs: number, epoch: number, level: string, text: string]
type PageRow = [
  state: number,
  next: number,
  dropped: number,
  ...([n: null, atMs: null, epoch: null, level: null, text: null] | LineRow),
]

/** One statement, so one snapshot: the counts are those of the lines. */
const read = (from: string, limit: string): string => `with a as materialized (
    select j.seq, j.state, coalesce(l.next, 0) as next, (select min(n) from holdfast.log_line where seq = j.seq) as first
    from holdfast.body b join holdfast.job j on j.seq = b.seq left join holdfast.log l on l.seq = j.seq where b.id = $1)
  select a.state, a.next, coalesce(a.first, a.next), x.n, x.at, x.epoch, x.level, x.text from a left join lateral (
    select o.n, o.at, o.epoch, o.level, o.text from holdfast.log_line o
    where o.seq = a.seq and o.n >= ${from} order by o.n limit greatest(${limit}, 0)) x on true
  order by x.n`
const paged = read('$2::bigint', '$3::bigint')
const tailed = read('a.next - $2::bigint', '$2::bigint')

export async function page(
  session: Session,
  { id, from, limit }: { readonly id: string; readonly from: number; readonly limit: number },
): Promise<LogPage> {
  return pageOf(await session.query<PageRow>(paged, [id, from, limit]))
}

export async function tail(
  session: Session,
  { id, limit }: { readonly id: string; readonly limit: number },
): Promise<LogPage> {
  return pageOf(await session.query<PageRow>(tailed, [id, limit]))
}

function pageOf(rows: readonly PageRow[]): LogPage {
  const [first] = rows
  if (!first) return { lines: [], total: 0, dropped: 0, state: null }
  const [state, total, dropped] = first
  const lines = rows.flatMap(([, , , ...row]) => (row[0] === null ? [] : [lineOf(row)]))
  return { lines, total, dropped, state: stateOf(state) }
}

export function lineOf([n, atMs, epoch, level, text]: LineRow): LogLine {
  return { n, atMs, epoch, level: level as LogLevel, text }
}
