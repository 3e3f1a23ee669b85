import type { QueueAge } from '../../../engine/ports/store.ts'
import { time } from '../clock.ts'
import type { Session } from '../database.ts'

/**
 * The earliest of one queue in one index of waiting jobs: kinds and bands are found by leaping from one to the
 * next, and of each only the head is read, however long the backlog.
 */
const head = (place: 0 | 1): string => `(with recursive head as (
    (select j.kind_key, j.band, j.visible_at from holdfast.job j where j.place = ${place} and j.queue = q.queue
      order by j.kind_key, j.band, j.visible_at limit 1)
    union all
    select n.* from head h cross join lateral (select j.kind_key, j.band, j.visible_at from holdfast.job j
      where j.place = ${place} and j.queue = q.queue and (j.kind_key, j.band) > (h.kind_key, h.band)
      order by j.kind_key, j.band, j.visible_at limit 1) n)
  select min(visible_at) from head)`

const ages = `with ${time}
  select q.queue, case when least(m.at, a.at) <= t.ms then t.ms - least(m.at, a.at) end
  from t cross join unnest($1::text[]) with ordinality as q(queue, n)
  cross join lateral (select ${head(0)} as at) m cross join lateral (select ${head(1)} as at) a
  order by q.n`

export async function queueAges(
  session: Session,
  { queues }: { readonly queues: readonly string[] },
): Promise<readonly QueueAge[]> {
  const rows = await session.query<[queue: string, oldestDueMs: number | null]>(ages, [queues])
  return rows.map(([queue, oldestDueMs]) => ({ queue, oldestDueMs }))
}
