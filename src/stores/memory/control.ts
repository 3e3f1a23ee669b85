import { restored as restoredJob, takenTo, timelineAfter } from '../../engine/jobs/transitions.ts'
import type { Control, ControlChange, RestoredParams, RestoredReply } from '../../engine/ports/store.ts'
import { type Content, byText, put } from './content.ts'

export function set(content: Content, change: ControlChange): Control {
  const { hold, paused } = content.control
  if ('hold' in change) content.control = { hold: change.hold, paused }
  else {
    const others = paused.filter((queue) => queue !== change.queue)
    content.control = { hold, paused: change.paused ? [...others, change.queue].sort(byText) : others }
  }
  return content.control
}

export function restored(
  content: Content,
  { command, timelineMin }: RestoredParams,
  nowMs: number,
): RestoredReply {
  const { control, timeline, restoredBy } = content
  if (restoredBy === command) return { control, timeline, taken: [] }
  content.restoredBy = command
  content.timeline = timelineAfter(timeline, timelineMin)
  content.control = { ...control, hold: false }
  // Claims that were made void stay so: one of them may still be on its way.
  for (const { token, worker } of content.claims.values()) if (worker !== null) content.claims.delete(token)
  content.leases.clear()
  const taken: RestoredReply['taken'][number][] = []
  for (const job of content.jobs.values()) {
    const anew = restoredJob(job, { nowMs, timeline: content.timeline })
    if (!anew) continue
    put(content, anew)
    if (job.state === 'running') taken.push({ id: job.spec.id, epoch: anew.epoch, state: endOf(anew) })
  }
  return { control: content.control, timeline: content.timeline, taken }
}

function endOf(job: Parameters<typeof takenTo>[0]): 'queued' | 'cancelled' {
  return takenTo(job) === 'cancelled' ? 'cancelled' : 'queued'
}
