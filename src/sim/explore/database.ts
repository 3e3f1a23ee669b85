import type { JobRecord } from '../../engine/jobs/record.ts'
import type { ScheduleRow } from '../../engine/ports/schedules.ts'
import type { LeaseRow } from '../../engine/ports/store.ts'
import type { Content } from '../../stores/memory/content.ts'
import type { Portrait } from './portrait.ts'

/**
 * What the database holds, as far as it decides anything. Times that are only shown are left out, and headers of claims:
 * those count only where something names them.
 */
export function databaseOf(content: Content, portrait: Portrait): void {
  for (const job of content.jobs.values()) jobOn(portrait, job)
  for (const lease of inOrderOfLapse(content)) {
    portrait.text(lease.token)
    portrait.text(lease.worker)
    portrait.mix(lease.ttlMs)
    portrait.instant(lease.expiresAtMs)
  }
  portrait.mix(content.seq)
  const { watch, named, checkpoints, logs, control, timeline, restoredBy } = content
  portrait.value({ watch, named, checkpoints, control, timeline, restoredBy })
  for (const schedule of content.schedules.values()) scheduleOn(portrait, schedule)
  // When a line was taken is shown, and decides nothing.
  for (const { id, next, epoch, line, lines } of logs.values()) {
    portrait.value({ id, next, epoch, line, texts: lines.map(({ text }) => text) })
  }
}

/** A row, or a copy of it on its way. */
export function jobOn(portrait: Portrait, job: JobRecord): void {
  portrait.text(job.spec.id)
  portrait.text(job.state)
  portrait.mix(job.epoch)
  portrait.mix(job.attempt)
  portrait.mix(job.failures)
  portrait.mix(job.evictions)
  portrait.mix(job.version)
  portrait.mix(job.seq)
  portrait.mix(job.cancelRequestedAtMs === null ? 0 : 1)
  portrait.value(job.visibleAtMs, 'visibleAtMs')
  portrait.value(job.claimedAtMs, 'claimedAtMs')
  portrait.value(job.token)
  portrait.value(job.result)
  portrait.value(job.error?.code ?? null)
  portrait.value(job.lastSettle)
  portrait.value(job.lastCommand)
  portrait.mix(job.deadAtMs === null ? 0 : 1)
  portrait.value(job.replayedAs)
  portrait.value(job.spec.lineage)
  portrait.value(job.progress)
  // A job without a place in the queue waits from its creation.
  if (job.state === 'queued' && job.visibleAtMs === null) portrait.instant(job.createdAtMs)
}

/** Beside how long it is until it is due, when that is: a slot is an absolute time, and names its job. */
function scheduleOn(portrait: Portrait, schedule: ScheduleRow): void {
  portrait.text(schedule.key)
  portrait.text(schedule.version)
  portrait.text(schedule.spec)
  portrait.mix(schedule.paused ? 1 : 0)
  portrait.value(schedule.nextAtMs, 'nextAtMs')
  portrait.value(schedule.nextAtMs)
}

/** Those that lapse in one instant are taken in the order of their tokens, which are else but names. */
function inOrderOfLapse({ leases }: Content): LeaseRow[] {
  return [...leases.values()]
    .flat()
    .sort((a, b) => a.expiresAtMs - b.expiresAtMs || (a.token < b.token ? -1 : 1))
}
