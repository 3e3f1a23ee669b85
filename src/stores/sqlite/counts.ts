import type { QueueCounts } from '../../engine/ports/queries.ts'
import { failedState, queuedState, runningState, undispatchedPlace } from './rows.ts'
import type { Operation } from './statements.ts'

/** Jobs of one place in the queue, out of its index alone. */
const waiting = (solo: 0 | 1, index: string): string => `select j.queue as queue,
    sum(j.visible_at <= (select holdfast_now())) as due, sum(j.visible_at > (select holdfast_now())) as delayed, 0 as undispatched, 0 as running, 0 as dead
  from holdfast_job j indexed by ${index} where j.state = ${queuedState} and j.solo = ${solo} group by j.queue`

/** Each from what holds nothing else: the indexes of those that wait and of dead letters, the lists of claims. */
const counting = `select queue, sum(due), sum(delayed), sum(undispatched), sum(running), sum(dead)
from (${waiting(0, 'holdfast_job_ready')}
  union all ${waiting(1, 'holdfast_job_solo')}
  union all select j.queue, 0, 0, count(*), 0, 0 from holdfast_job j indexed by holdfast_job_undispatched
    where j.state = ${queuedState} and j.solo = ${undispatchedPlace} group by j.queue
  union all select j.queue, 0, 0, 0, count(*), 0
    from holdfast_claim c cross join json_each(c.jobs) u cross join holdfast_job j on j.seq = u.value
    where c.worker is not null and j.claim = c.claim and j.state = ${runningState} group by j.queue
  union all select j.queue, 0, 0, 0, 0, count(*) from holdfast_job j indexed by holdfast_job_dead
    where j.dead_at is not null and j.state = ${failedState} group by j.queue)
group by queue order by queue`

export function counts({ query }: Operation): readonly QueueCounts[] {
  type Row = [
    queue: string,
    due: number,
    delayed: number,
    undispatched: number,
    running: number,
    dead: number,
  ]
  return query<Row>(counting)
    .all()
    .map(([queue, due, delayed, undispatched, running, dead]) => {
      return { queue, due, delayed, undispatched, running, dead }
    })
}
