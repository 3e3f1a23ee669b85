import type { JobRecord } from '../../engine/jobs/record.ts'
import { cancelRequested, dispatched, rescheduled, retried } from '../../engine/jobs/transitions.ts'
import type { CancelReply, CommandParams, CommandReply } from '../../engine/ports/store.ts'
import { type Content, put } from './content.ts'

/** What operators do to a job. */

export function requestCancel(content: Content, { id }: { readonly id: string }, nowMs: number): CancelReply {
  const job = content.jobs.get(id)
  if (!job) return { kind: 'missing' }
  const asked = cancelRequested(job, nowMs)
  if (asked) put(content, asked)
  const { state } = asked ?? job
  if (state === 'running') return { kind: 'requested' }
  // The repeat of a cancel that ended the job says so again.
  return state === 'cancelled' ? { kind: 'cancelled' } : { kind: 'ended', state }
}

export function retry(content: Content, params: CommandParams, nowMs: number): CommandReply {
  return commanded(content, params, (job) =>
    retried(job, params.command, { nowMs, timeline: content.timeline }),
  )
}

export function reschedule(
  content: Content,
  params: CommandParams & { readonly delayMs: number },
  nowMs: number,
): CommandReply {
  return commanded(content, params, (job) => rescheduled(job, params.delayMs, params.command, nowMs))
}

/** Applies iff the job is at the version named; a repeat of what applied is known by its command. */
function commanded(
  content: Content,
  { id, version, command }: CommandParams,
  change: (job: JobRecord) => JobRecord | null,
): CommandReply {
  const job = content.jobs.get(id)
  if (job?.lastCommand === command) return { kind: 'applied', version: job.version }
  const changed = job?.version === version ? change(job) : null
  if (!changed) return { kind: 'refused', version: job?.version ?? null, state: job?.state ?? null }
  put(content, changed)
  return { kind: 'applied', version: changed.version }
}

export function repairDispatch(
  content: Content,
  { limit, olderMs }: { readonly limit: number; readonly olderMs: number },
  nowMs: number,
): { ids: string[] } {
  const ids: string[] = []
  for (const job of [...content.undispatched].map((id) => content.jobs.get(id))) {
    if (ids.length >= limit) break
    if (!job || nowMs - job.updatedAtMs < olderMs) continue
    put(content, dispatched(job, nowMs))
    ids.push(job.spec.id)
  }
  return { ids }
}
