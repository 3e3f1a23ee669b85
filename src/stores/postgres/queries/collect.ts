import { time } from '../clock.ts'
import type { Session } from '../database.ts'

/**
 * In the order they were made. A claim is spent when none of the jobs it lists runs under it; the look at a live
 * one ends at its first running job. There are few claim rows, so all of them are read.
 */
const remove = `with ${time},
spent as materialized (select c.claim from holdfast.claim c where case
    when c.worker is null then (select ms from t) - c.made_at >= $2::bigint
    else not exists (select from unnest(c.jobs) as u(seq) join holdfast.job j on j.seq = u.seq
      where j.claim = c.claim and j.state = 1)
  end order by c.claim limit $1 for update skip locked),
leases as (delete from holdfast.lease where claim = any(array(select claim from spent))),
removed as (delete from holdfast.claim where claim = any(array(select claim from spent)) returning 1)
select count(*) from removed`

export async function collect(
  session: Session,
  { limit, voidMs }: { readonly limit: number; readonly voidMs: number },
): Promise<{ readonly removed: number }> {
  const [row] = await session.query<[removed: number]>(remove, [limit, voidMs])
  return { removed: row?.[0] ?? 0 }
}
