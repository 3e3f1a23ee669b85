import type { AdoptReply } from '../../../engine/ports/store.ts'
import { time } from '../clock.ts'
import type { Session } from '../database.ts'
import { type TakenRow, evicted, takeBack, takenOf } from './reclaim.ts'
import { quiet } from './watch.ts'

/**
 * Jobs under old claims that have no lease row of their TTL. Only claims of that age are read, and of each its
 * jobs. A job without a claim row is in no list, and nobody knows since when it runs. One that is being written
 * is left to the next sweep.
 */
const takeUnleased = `with ${time},
old as (select c.claim, c.made_at, u.seq from holdfast.claim c cross join lateral unnest(c.jobs) as u(seq)
  where c.worker is not null and c.made_at <= (select ms from t) - $2::bigint and ${quiet} >= $2::bigint),
unleased as (select o.claim, o.made_at, o.seq, b.id, b.spec from old o
  cross join lateral (select b.id, b.spec, b.lease_ttl_ms from holdfast.body b where b.seq = o.seq offset 0) b
  cross join lateral (select from holdfast.job j where j.seq = o.seq and j.claim = o.claim and j.state = 1 offset 0) j
  where not exists (select from holdfast.lease l where l.claim = o.claim and l.ttl_ms = b.lease_ttl_ms)
  order by o.made_at, o.seq),
taken as materialized (select u.seq, u.made_at, u.id, u.spec, v.evictions, v.next from unleased u
  cross join lateral (select ${evicted} from holdfast.job j, (values (u.spec)) as b(spec)
    where j.seq = u.seq and j.claim = u.claim and j.state = 1 for update of j skip locked) v
  limit $1),
${takeBack}
select v.id, m.epoch, m.evictions, m.state from taken v join moved m on m.seq = v.seq order by v.made_at, v.seq`

export async function adopt(
  session: Session,
  { limit, silentMs }: { readonly limit: number; readonly silentMs: number },
): Promise<AdoptReply> {
  const rows = await session.query<TakenRow>(takeUnleased, [limit, silentMs])
  return { jobs: rows.map(takenOf) }
}
