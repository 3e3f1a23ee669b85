import { time } from '../clock.ts'
import type { Session } from '../database.ts'
import { toldOf } from '../wake.ts'

/**
 * `dispatched` of the transitions. The index holds nothing else, so that a sweep in which there is nothing to
 * repair reads nothing; what another sweep is repairing is left to it.
 */
const dispatch = `with ${time},
found as materialized (select j.seq from holdfast.job j
  where j.place = 2 and j.updated_at <= (select ms from t) - $2::bigint order by j.seq limit $1 for update skip locked),
given as (update holdfast.job j set place = 0, visible_at = t.ms, version = j.version + 1, updated_at = t.ms
  from t where j.seq = any(array(select seq from found)) and j.place = 2 returning j.seq, j.queue)
select b.id, ${toldOf('$3', 'given')} from given g join holdfast.body b on b.seq = g.seq order by g.seq`

export async function repairDispatch(
  session: Session,
  { limit, olderMs }: { readonly limit: number; readonly olderMs: number },
  channel: string | null,
): Promise<{ readonly ids: readonly string[] }> {
  const rows = await session.query<[id: string]>(dispatch, [limit, olderMs, channel])
  return { ids: rows.map(([id]) => id) }
}
