import type { EventOf } from '../../engine/history.ts'

/** The last retry of each job: a repeat of it, whose first answer was lost, is answered like the first. */
export type Retries = Map<string, string>

/** Whether this command started the job anew, and does so for the first time. */
export function startsAnew(retries: Retries, event: EventOf<'job.commanded'>): boolean {
  const { job, command, token, applied } = event
  if (command !== 'retry' || !applied || retries.get(job) === token) return false
  retries.set(job, token)
  return true
}
