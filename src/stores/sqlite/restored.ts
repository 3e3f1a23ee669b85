import { firstEpoch, restored as restoredJob, takenTo } from '../../engine/jobs/transitions.ts'
import type { RestoredParams, RestoredReply } from '../../engine/ports/store.ts'
import { get } from './control.ts'
import { putMoved, runningJobs } from './moving.ts'
import { queuedState } from './rows.ts'
import type { Operation } from './statements.ts'
import { timelineOf } from './timeline.ts'

const begin = `insert into holdfast_timeline (one, timeline, command) values (1, max(1, ?), ?)
  on conflict (one) do update set timeline = max(timeline + 1, excluded.timeline), command = excluded.command
  where command <> excluded.command`

/** `restored` of the transitions, for what waits: the only statement that writes each of those rows. */
const leap = `update holdfast_job set epoch = max(epoch, ?), version = version + 1, updated_at = ?
  where state = ${queuedState}`

export function restored(operation: Operation, { command: by, timelineMin }: RestoredParams): RestoredReply {
  const { command, nowMs } = operation
  const began = command(begin).run(timelineMin, by).changes === 1
  const timeline = timelineOf(operation)
  if (!began) return { control: get(operation), timeline, taken: [] }
  command(leap).run(firstEpoch(timeline), nowMs)
  const taken = runningJobs(operation).flatMap((job) => restoredJob(job, { nowMs, timeline }) ?? [])
  for (const job of taken) putMoved(operation, job)
  command('delete from holdfast_lease').run()
  // Claims that were made void stay so: one of them may still be on its way.
  command('delete from holdfast_claim where worker is not null').run()
  command(`delete from holdfast_control where what = 'hold'`).run()
  return {
    control: get(operation),
    timeline,
    taken: taken.map((job) => {
      const state = takenTo(job) === 'cancelled' ? 'cancelled' : 'queued'
      return { id: job.spec.id, epoch: job.epoch, state }
    }),
  }
}
