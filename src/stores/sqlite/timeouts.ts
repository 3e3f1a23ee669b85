import { takenTo, timedOut } from '../../engine/jobs/transitions.ts'
import type { TimeoutReply } from '../../engine/ports/store.ts'
import { lateJobs, putMoved } from './moving.ts'
import type { Operation } from './statements.ts'
import { quietForMs } from './watch.ts'

export function expireTimeouts(operation: Operation, { limit }: { readonly limit: number }): TimeoutReply {
  if (limit <= 0) return { jobs: [] }
  const seenMs = quietForMs(operation)
  if (seenMs < 0) return { jobs: [] }
  const jobs = lateJobs(operation, seenMs, limit).map((job) => timedOut(job, operation.nowMs))
  for (const job of jobs) putMoved(operation, job)
  return {
    jobs: jobs.map((job) => ({
      id: job.spec.id,
      epoch: job.epoch,
      failures: job.failures,
      state: takenTo(job),
    })),
  }
}
