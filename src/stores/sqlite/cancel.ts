import { cancelRequested } from '../../engine/jobs/transitions.ts'
import type { CancelReply } from '../../engine/ports/store.ts'
import { movingJob, putMoved } from './moving.ts'
import type { Operation } from './statements.ts'

export function requestCancel(operation: Operation, { id }: { readonly id: string }): CancelReply {
  const job = movingJob(operation, id)
  if (!job) return { kind: 'missing' }
  const asked = cancelRequested(job, operation.nowMs)
  if (asked) putMoved(operation, asked)
  const { state } = asked ?? job
  if (state === 'running') return { kind: 'requested' }
  // The repeat of a cancel that ended the job says so again.
  return state === 'cancelled' ? { kind: 'cancelled' } : { kind: 'ended', state }
}
