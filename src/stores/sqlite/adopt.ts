import { reclaimed, takenBack } from '../../engine/jobs/transitions.ts'
import type { AdoptReply } from '../../engine/ports/store.ts'
import { putMoved, unleasedJobs } from './moving.ts'
import type { Operation } from './statements.ts'
import { quietForMs } from './watch.ts'

export function adopt(
  operation: Operation,
  { limit, silentMs }: { readonly limit: number; readonly silentMs: number },
): AdoptReply {
  if (limit <= 0 || quietForMs(operation) < silentMs) return { jobs: [] }
  const jobs = unleasedJobs(operation, operation.nowMs - silentMs, limit).map((job) =>
    reclaimed(job, operation.nowMs),
  )
  for (const job of jobs) putMoved(operation, job)
  return { jobs: jobs.map(takenBack) }
}
