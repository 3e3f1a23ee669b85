import type { JobRecord } from '../../engine/jobs/record.ts'
import { rescheduled, retried } from '../../engine/jobs/transitions.ts'
import type { CommandParams, CommandReply } from '../../engine/ports/store.ts'
import { movingJob, putMoved } from './moving.ts'
import type { Operation } from './statements.ts'
import { timelineOf } from './timeline.ts'

export function retry(operation: Operation, params: CommandParams): CommandReply {
  const { nowMs } = operation
  const timeline = timelineOf(operation)
  return commanded(operation, params, (job) => retried(job, params.command, { nowMs, timeline }))
}

export function reschedule(
  operation: Operation,
  params: CommandParams & { readonly delayMs: number },
): CommandReply {
  return commanded(operation, params, (job) => {
    return rescheduled(job, params.delayMs, params.command, operation.nowMs)
  })
}

/** Applies iff the job is at the version named; a repeat of what applied is known by its command. */
function commanded(
  operation: Operation,
  { id, version, command }: CommandParams,
  change: (job: JobRecord) => JobRecord | null,
): CommandReply {
  const job = movingJob(operation, id)
  if (job?.lastCommand === command) return { kind: 'applied', version: job.version }
  const changed = job?.version === version ? change(job) : null
  if (!changed) return { kind: 'refused', version: job?.version ?? null, state: job?.state ?? null }
  putMoved(operation, changed)
  return { kind: 'applied', version: changed.version }
}
