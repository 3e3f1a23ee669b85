import type { QueueCounts } from '../../../engine/ports/queries.ts'
import { time } from '../clock.ts'
import type { Session } from '../database.ts'

/** Jobs of one place in the queue, out of its index alone. */
const waiting = (place: 0 | 1): string => `select j.queue,
    count(*) filter (where j.visible_at <= (select ms from t)) as due,
    count(*) filter (where j.visible_at > (select ms from t)) as delayed, 0 as undispatched, 0 as running, 0 as dead
  from holdfast.job j where j.place = ${place} group by j.queue`

/** Each from what holds nothing else: the indexes of those that wait and of dead letters, the lists of claims. */
const counting = `with ${time}
select q.queue, sum(q.due)::bigint, sum(q.delayed)::bigint, sum(q.undispatched)::bigint, sum(q.running)::bigint,
  sum(q.dead)::bigint
from (${waiting(0)}
  union all ${waiting(1)}
  union all select j.queue, 0, 0, count(*), 0, 0 from holdfast.job j where j.place = 2 group by j.queue
  union all select j.queue, 0, 0, 0, count(*), 0
    from holdfast.claim c cross join lateral unnest(c.jobs) as u(seq)
    cross join lateral (select j.queue from holdfast.job j
      where j.seq = u.seq and j.claim = c.claim and j.state = 1 offset 0) j
    where c.worker is not null group by j.queue
  union all select j.queue, 0, 0, 0, 0, count(*) from holdfast.job j where j.dead_at is not null and j.state = 3 group by j.queue) q
group by q.queue order by q.queue collate "C"`

export async function counts(session: Session): Promise<readonly QueueCounts[]> {
  type Row = [
    queue: string,
    due: number,
    delayed: number,
    undispatched: number,
    running: number,
    dead: number,
  ]
  const rows = await session.query<Row>(counting)
  return rows.map(([queue, due, delayed, undispatched, running, dead]) => {
    return { queue, due, delayed, undispatched, running, dead }
  })
}
