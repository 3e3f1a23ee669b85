import type { TimeoutReply } from '../../../engine/ports/store.ts'
import { time } from '../clock.ts'
import type { Session } from '../database.ts'
import { backoffOf, noted, placeOf } from '../rows.ts'
import { stateTaken } from './reclaim.ts'
import { quiet } from './watch.ts'

const exceeded = `json_build_object('code', 'TIMEOUT', 'message',
  'attempt exceeded ' || (v.spec::json->>'timeoutMs') || ' ms')`

/**
 * Late attempts, the longest running first: `timedOut` of the transitions, said in SQL. `bound_ms` spares it whole
 * claims whose shortest bound has not passed. A job that is being settled is left to that.
 */
const endLate = `with ${time},
seen as materialized (select ${quiet} as ms),
old as (select c.claim, c.made_at, u.seq from holdfast.claim c cross join lateral unnest(c.jobs) as u(seq)
  where c.bound_ms <= (select ms from seen) and c.made_at <= (select ms from t) - c.bound_ms),
late as (select o.claim, o.made_at, o.seq, b.id, b.spec from old o
  cross join lateral (select b.id, b.spec, b.bound_ms from holdfast.body b where b.seq = o.seq offset 0) b
  where b.bound_ms <= (select ms from seen) and o.made_at <= (select ms from t) - b.bound_ms
  order by o.made_at, o.seq),
taken as materialized (select l.seq, l.made_at, l.id, l.spec, v.failures, v.evictions, v.next from late l
  cross join lateral (select j.evictions, j.failures + 1 as failures, case
      when j.failures + 1 >= (l.spec::json->>'maxAttempts')::bigint then 3
      when j.cancel_requested_at is not null then 4 else 0 end as next
    from holdfast.job j where j.seq = l.seq and j.claim = l.claim and j.state = 1 for update skip locked) v
  limit $1),
moved as (update holdfast.job j set epoch = j.epoch + 1, failures = v.failures, version = j.version + 1, claim = null,
    updated_at = t.ms, state = v.next, place = case v.next when 0 then ${placeOf('v.evictions', 'v.spec')} end,
    visible_at = case v.next when 0 then t.ms + ${backoffOf('v.failures', 'v.spec')} else j.visible_at end,
    finished_at = case v.next when 0 then null else t.ms end,
    dead_at = case v.next when 3 then t.ms end, error = ${exceeded}::text, events = ${noted('timed-out', exceeded)}
  from taken v, t where j.seq = any(array(select seq from taken)) and j.seq = v.seq
  returning j.seq, j.epoch, j.failures, j.state)
select v.id, m.epoch, m.failures, m.state from taken v join moved m on m.seq = v.seq order by v.made_at, v.seq`

export async function expireTimeouts(
  session: Session,
  { limit }: { readonly limit: number },
): Promise<TimeoutReply> {
  type Row = [id: string, epoch: number, failures: number, state: number]
  const rows = await session.query<Row>(endLate, [limit])
  return {
    jobs: rows.map(([id, epoch, failures, state]) => ({ id, epoch, failures, state: stateTaken(state) })),
  }
}
