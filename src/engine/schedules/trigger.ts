import { ScheduleInvalid } from '../errors.ts'
import { requireWhole, shown } from '../given.ts'
import { durationMsMax } from '../jobs/figures.ts'
import { textOf } from '../jobs/text.ts'
import { isDate } from './calendar.ts'
import { cronSlots } from './cron.ts'
import { type Slots, intervalSlots } from './slots.ts'

/** When a schedule fires, as a caller states it. */
export type Trigger =
  | {
      /**
       * Five fields (minute, hour, day of the month, month, day of the week), or `@hourly`, `@daily`, `@weekly`,
       * `@monthly`, `@yearly`.
       */
      readonly cron: string
      /** Of which the fields speak, such as `Europe/Berlin`; default `UTC`, whatever the zone of the machine. */
      readonly timeZone?: string
    }
  | {
      /** From 1,000 on. */
      readonly everyMs: number
      /** The first slot; default: one interval after the schedule is made. */
      readonly startAt?: Date
    }

/** As it is stored. `anchorMs`: a slot, or where the first interval begins. */
export type StoredTrigger =
  | { readonly cron: string; readonly timeZone: string }
  | { readonly everyMs: number; readonly anchorMs: number }

const everyMsMin = 1_000

/**
 * `nowMs`: where an interval begins that states no start, unless `before` is one that begins already. Throws
 * `ScheduleInvalid` for what can never fire.
 */
export function storedTrigger(given: Trigger, nowMs: number, before?: StoredTrigger): StoredTrigger {
  const { cron, everyMs } = given as { readonly cron?: unknown; readonly everyMs?: unknown }
  if ((cron === undefined) === (everyMs === undefined)) {
    throw new ScheduleInvalid('a schedule has either cron or everyMs')
  }
  const other = everyMs === undefined ? 'startAt' : 'timeZone'
  if ((given as Readonly<Record<string, unknown>>)[other] !== undefined) {
    throw new ScheduleInvalid(
      `${other} says nothing of a schedule by ${everyMs === undefined ? 'cron' : 'everyMs'}`,
    )
  }
  const trigger =
    'cron' in given && cron !== undefined ? cronTrigger(given) : everyTrigger(given, nowMs, before)
  if (slotsOf(trigger).next(nowMs) === null) {
    throw new ScheduleInvalid(`the cron expression ${shown(cron)} names no time that ever comes`)
  }
  return trigger
}

function cronTrigger({ cron, timeZone = 'UTC' }: Extract<Trigger, { cron: string }>): StoredTrigger {
  if (typeof cron !== 'string') throw new ScheduleInvalid(`cron must be a string, not ${shown(cron)}`)
  if (typeof timeZone !== 'string' || timeZone === '') {
    throw new ScheduleInvalid(`timeZone must be the name of a time zone, not ${shown(timeZone)}`)
  }
  return { cron: cron.trim(), timeZone }
}

function everyTrigger(given: Trigger, nowMs: number, before: StoredTrigger | undefined): StoredTrigger {
  const { everyMs, startAt } = given as Extract<Trigger, { everyMs: number }>
  requireWhole('everyMs', everyMs, { min: everyMsMin, max: durationMsMax }, ScheduleInvalid)
  if (startAt === undefined) {
    return { everyMs, anchorMs: before && 'anchorMs' in before ? before.anchorMs : nowMs }
  }
  if (!isDate(startAt)) throw new ScheduleInvalid(`startAt must be a Date, not ${shown(startAt)}`)
  const max = Number.MAX_SAFE_INTEGER
  return { everyMs, anchorMs: requireWhole('startAt', startAt.getTime(), { min: 0, max }, ScheduleInvalid) }
}

/** Throws `ScheduleInvalid` for an expression or a zone that this process does not understand. */
export function slotsOf(trigger: StoredTrigger): Slots {
  if ('everyMs' in trigger) return intervalSlots(trigger.everyMs, trigger.anchorMs)
  const { cron, timeZone } = trigger
  try {
    return cronSlots(cron, timeZone)
  } catch (error) {
    throw new ScheduleInvalid(
      `the cron expression ${shown(cron)} in the time zone ${shown(timeZone)}: ${textOf(error)}`,
      { cause: error },
    )
  }
}

/** Whether the two are one, whatever has been read back from a store. */
export function sameTrigger(a: StoredTrigger, b: StoredTrigger): boolean {
  if ('everyMs' in a) return 'everyMs' in b && a.everyMs === b.everyMs && a.anchorMs === b.anchorMs
  return 'cron' in b && a.cron === b.cron && a.timeZone === b.timeZone
}
