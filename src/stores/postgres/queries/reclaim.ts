import type { JobRecord } from '../../../engine/jobs/record.ts'
import type { ReclaimReply, Reclaimed } from '../../../engine/ports/store.ts'
import { time } from '../clock.ts'
import type { Session } from '../database.ts'
import { backoffOf, noted, placeOf, stateOf } from '../rows.ts'
import { beyond, isSilent } from './silent.ts'
import { quiet } from './watch.ts'

const lost = `json_build_object('code', 'LEASE_LOST', 'message', 'lease lost x' || v.evictions)`

/**
 * `reclaimed` of the transitions, for the jobs in `taken`: their rows are locked, in the order of their sequence,
 * as a settle locks them.
 */
export const takeBack: string = `moved as (update holdfast.job j set epoch = j.epoch + 1, evictions = j.evictions + 1,
    version = j.version + 1, claim = null, updated_at = t.ms, state = v.next,
    place = case v.next when 0 then ${placeOf('v.evictions', 'v.spec')} end,
    visible_at = case v.next when 0 then t.ms + ${backoffOf('v.evictions', 'v.spec')} else j.visible_at end,
    finished_at = case v.next when 0 then null else t.ms end,
    dead_at = case v.next when 3 then t.ms end, error = ${lost}::text, events = ${noted('evicted', lost)}
  from taken v, t where j.seq = any(array(select seq from taken)) and j.seq = v.seq
  returning j.seq, j.epoch, j.evictions, j.state)`

/** Where a job of `j` and `b` goes that loses its lease once more. */
export const evicted = `j.evictions + 1 as evictions, case
    when j.evictions + 1 >= (b.spec::json->>'maxEvictions')::bigint then 3
    when j.cancel_requested_at is not null then 4 else 0 end as next`

/**
 * Silent lease rows, longest expired first. There is one for each batch that
 * is held, so reading all of them costs less than an index on a column that every heartbeat writes. Each is locked
 * first, and looked at again under the lock: one that was renewed meanwhile is silent no more, one that another
 * sweep has locked is its. Only then its jobs are locked: a settle in flight is waited for, and what it ended stays.
 */
const takeSilent = `with ${time},
${beyond},
seen as materialized (select ${quiet} as ms),
found as materialized (select l.claim, l.ttl_ms, l.expires_at, c.token, c.jobs, l.ttl_ms <= (select ms from seen) as takeable
  from holdfast.lease l join holdfast.claim c on c.claim = l.claim where ${isSilent}),
locked as materialized (select f.* from (select * from found where takeable order by expires_at, token, ttl_ms) f
  cross join lateral (select from holdfast.lease l
    where l.claim = f.claim and l.ttl_ms = f.ttl_ms and ${isSilent} for update skip locked) l
  limit $1),
gone as (delete from holdfast.lease l using locked k where l.claim = k.claim and l.ttl_ms = k.ttl_ms),
listed as materialized (select k.claim, k.ttl_ms, k.expires_at, k.token, u.seq, u.n
  from locked k cross join lateral unnest(k.jobs) with ordinality as u(seq, n) order by u.seq),
taken as materialized (select u.*, b.id, b.spec, v.evictions, v.next from listed u
  cross join lateral (select b.id, b.spec, b.lease_ttl_ms from holdfast.body b where b.seq = u.seq offset 0) b
  cross join lateral (select ${evicted} from holdfast.job j
    where b.lease_ttl_ms = u.ttl_ms and j.seq = u.seq and j.claim = u.claim and j.state = 1 for update) v),
${takeBack}
select (select count(*) from found where not takeable), (select count(*) from found where takeable),
  v.id, m.epoch, m.evictions, m.state
from t left join (taken v join moved m on m.seq = v.seq) on true
order by v.expires_at, v.token, v.ttl_ms, v.n`

export async function reclaim(
  session: Session,
  { limit }: { readonly limit: number },
): Promise<ReclaimReply> {
  type Row = [heldBack: number, takeable: number, ...(TakenRow | [null, null, null, null])]
  const rows = await session.query<Row>(takeSilent, [limit])
  const [heldBack, takeable] = rows[0] as Row
  const jobs = rows.flatMap(([, , ...row]) => (row[0] === null ? [] : [takenOf(row)]))
  return { jobs, heldBack, full: takeable > limit }
}

export type TakenRow = [id: string, epoch: number, evictions: number, state: number]

export function takenOf([id, epoch, evictions, state]: TakenRow): Reclaimed {
  return { id, epoch, evictions, state: stateTaken(state) }
}

export function stateTaken(code: number): 'queued' | 'failed' | 'cancelled' {
  return stateOf(code) as Extract<JobRecord['state'], 'queued' | 'failed' | 'cancelled'>
}
