import { type SweepParams, type SweepReply, sweepLimitMax } from '../../../engine/ports/retention.ts'
import { logLinesMax } from '../../../engine/ports/logs.ts'
import { sweptLinesMax } from '../../retention.ts'
import { time } from '../clock.ts'
import type { Session } from '../database.ts'
import { keepMsOf } from '../rows.ts'

/** The tables in which rows hang on a job by its sequence. */
const parts = ['checkpoint', 'log', 'log_line', 'body', 'job']

/**
 * `isSpent` of the engine, of the next jobs by their key: an index on when jobs end would cost each settle its
 * heap-only update (decision 0023). What is spent is looked at again under its lock, and what somebody has locked is
 * left to a later pass; rows are locked in the order of their sequence, as by everybody. What a job is found by lies in
 * the order of the keys, and is found by what the job says of itself.
 */
const remove = `with ${time},
page as materialized (select j.seq from holdfast.job j where j.seq > $1::bigint order by j.seq limit $2),
listed as materialized (select p.seq, b.id, b.spec, b.labels,
    b.created_at <= (select ms from t) and (select ms from t) - b.created_at < $4::bigint as young
  from page p cross join lateral
    (select b.id, b.spec, b.labels, b.created_at from holdfast.body b where b.seq = p.seq offset 0) b),
looked as materialized (select l.* from listed l
  where l.seq < coalesce((select min(seq) from listed where young), 9223372036854775807) order by l.seq),
spent as materialized (select l.seq, l.id, l.labels from looked l cross join lateral
  (select from holdfast.job j where j.seq = l.seq and j.state in (2, 3, 4)
    and (select ms from t) - j.finished_at >= ${keepMsOf('l.spec')}
    and (j.dead_at is null or (select ms from t) - j.dead_at >= $3::bigint) for update skip locked) j),
counted as materialized (select s.*, row_number() over w > 1
    and sum(least(coalesce(l.next, 0), ${logLinesMax})) over w > ${sweptLinesMax} as beyond
  from spent s left join holdfast.log l on l.seq = s.seq window w as (order by s.seq)),
gone as materialized (select * from counted where not beyond),
seen as (select count(l.seq) as looked, max(l.seq)::text as last, min(c.seq) as left_off
  from (select min(seq) as seq from counted where beyond) c left join looked l on l.seq < coalesce(c.seq, l.seq + 1)),
keys as (delete from holdfast.lookup k using gone s cross join lateral
    json_array_elements_text(s.labels::json->'keys') as f(key)
  where s.labels is not null and k.key = f.key and k.seq = s.seq),
${parts.map((table) => `${table}_gone as (delete from holdfast.${table} where seq = any(array(select seq from gone)))`).join(',\n')}
select e.looked, e.last, e.left_off is not null, g.id from seen e left join gone g on true order by g.seq`

type Row = [looked: number, last: string | null, leftOff: boolean, id: string | null]

export async function sweep(
  session: Session,
  { after, limit, deadLetterMs, olderMs }: SweepParams,
): Promise<SweepReply> {
  const most = Math.min(limit, sweepLimitMax)
  const rows = await session.query<Row>(remove, [after ?? '0', most, deadLetterMs, olderMs])
  const [looked, last, leftOff] = rows[0] as Row
  const removed = rows.flatMap(([, , , id]) => id ?? [])
  return { removed, looked, after: leftOff || looked === most ? last : null }
}

const removeLeases = `with ${time},
lapsed as materialized (select n.key from holdfast.named n where n.expires_at <= (select ms from t) - $2::bigint
  order by n.expires_at, n.key limit $1 for update skip locked),
gone as (delete from holdfast.named where key = any(array(select key from lapsed)) returning 1)
select count(*) from gone`

/** There is one row for each name that work was ever done under, so all of them are read. */
export async function sweepLeases(
  session: Session,
  { limit, lapsedMs }: { readonly limit: number; readonly lapsedMs: number },
): Promise<{ readonly removed: number }> {
  const [row] = await session.query<[removed: number]>(removeLeases, [limit, lapsedMs])
  return { removed: row?.[0] ?? 0 }
}
