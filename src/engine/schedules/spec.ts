import { ScheduleInvalid } from '../errors.ts'
import { beyond, beyondSpec } from '../jobs/members.ts'
import type { JobSpec } from '../jobs/record.ts'
import type { ScheduleRow, Slot } from '../ports/schedules.ts'
import { isoOf } from './calendar.ts'
import type { CatchUp } from './catch-up.ts'
import type { StoredTrigger } from './trigger.ts'

/** What differs from one job of a schedule to the next. */
type OfOneJob = 'id' | 'lineage' | 'enqueuedAtMs'

/**
 * What a schedule says, as its row keeps it: all that is needed to make its jobs, so that an engine which knows nothing
 * of their kind can.
 */
export interface ScheduleSpec {
  readonly trigger: StoredTrigger
  readonly catchUp: CatchUp
  readonly job: Omit<JobSpec, OfOneJob>
}

/**
 * `before`: the text that it takes the place of. What a newer release has added there stays, whatever this one puts: of
 * two releases that both put their schedules when they start, neither undoes what the other says.
 */
export function specText({ trigger, catchUp, job }: ScheduleSpec, before: string | null): string {
  const was = before === null ? {} : (JSON.parse(before) as Partial<ScheduleSpec>)
  const policy = typeof catchUp === 'object' ? { ...catchUp, ...beyond(was.catchUp, ofCatchUp) } : catchUp
  return JSON.stringify({
    trigger: { ...trigger, ...beyond(was.trigger, ofTrigger) },
    catchUp: policy,
    job: { ...job, ...(was.job && beyondSpec(was.job)) },
    ...beyond(was, ofSchedule),
  })
}

/** Whose members are whose, as this release knows them. */
export const ofSchedule: ReadonlySet<string> = new Set<keyof ScheduleSpec>(['trigger', 'catchUp', 'job'])
export const ofTrigger: ReadonlySet<string> = new Set(['cron', 'timeZone', 'everyMs', 'anchorMs'])
export const ofCatchUp: ReadonlySet<string> = new Set(['all'])

/** Throws `ScheduleInvalid` for what this release does not understand. */
export function specOf({ key, spec }: Pick<ScheduleRow, 'key' | 'spec'>): ScheduleSpec {
  const { trigger, catchUp, job } = partsOf(spec)
  const known = trigger !== undefined && ('cron' in trigger || 'everyMs' in trigger)
  const caughtUp = catchUp === 'skip' || catchUp === 'latest' || typeof catchUp === 'object'
  if (known && caughtUp && typeof job === 'object') return { trigger, catchUp, job }
  throw new ScheduleInvalid(`the schedule ${key} was put by a release that this one does not understand`)
}

function partsOf(spec: string): Partial<ScheduleSpec> {
  try {
    return (JSON.parse(spec) as Partial<ScheduleSpec> | null) ?? {}
  } catch {
    return {}
  }
}

/** The id of the job that is made for a slot: so a slot has one job, whoever makes it. */
export function slotId(key: string, atMs: number): string {
  return `${key}@${isoOf(atMs)}`
}

/** `enqueuedAtMs` is shown only. */
export function slotOf(key: string, { job }: ScheduleSpec, atMs: number, enqueuedAtMs: number): Slot {
  const spec: JobSpec = { ...job, id: slotId(key, atMs), lineage: null, enqueuedAtMs }
  return { atMs, job: { spec, due: { delayMs: 0 } } }
}
