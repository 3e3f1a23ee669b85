import type { EventOf } from '../../engine/history.ts'

/**
 * When a schedule is to fire, reckoned by its own means: minute by minute, for expressions of minutes and hours alone,
 * in zones whose clocks never change. Of others nothing is said. All times in ms since the start of the run, which is a
 * midnight in UTC.
 */
export type Times = Pick<EventOf<'schedule.put'>, 'cron' | 'timeZone' | 'everyMs' | 'anchorMs'>

const minuteMs = 60_000
const aheadMin: Readonly<Record<string, number>> = { UTC: 0, 'Asia/Tokyo': 540, 'Asia/Kolkata': 330 }
/** Longer stretches than any run has. */
const reachMs = 40 * 24 * 60 * minuteMs

/** The slots from an instant on, up to before another; null: nothing is known of such a schedule. */
export function slotsBetween(times: Times, fromMs: number, toMs: number): number[] | null {
  const isSlot = slotTest(times)
  if (!isSlot || toMs - fromMs > reachMs) return null
  const stepMs = times.everyMs ?? minuteMs
  const firstMs = times.everyMs === null ? 0 : (times.anchorMs ?? 0)
  const found: number[] = []
  let atMs = firstMs + Math.ceil((fromMs - firstMs) / stepMs) * stepMs
  for (; atMs < toMs; atMs += stepMs) if (isSlot(atMs)) found.push(atMs)
  return found
}

/** Null: nothing is known of such a schedule. */
export function slotTest({ cron, timeZone, everyMs, anchorMs }: Times): ((atMs: number) => boolean) | null {
  if (everyMs !== null) {
    const firstMs = anchorMs ?? 0
    return (atMs) => atMs >= firstMs && (atMs - firstMs) % everyMs === 0
  }
  const [minutes = '', hours = '', ...rest] = (cron ?? '').split(' ')
  const ahead = aheadMin[timeZone ?? '']
  const isMinute = fieldTest(minutes)
  const isHour = fieldTest(hours)
  if (ahead === undefined || !isMinute || !isHour || rest.join(' ') !== '* * *') return null
  return (atMs) => {
    if (atMs % minuteMs !== 0) return false
    const minute = (atMs / minuteMs + ahead) % 60
    const hour = Math.floor((atMs / minuteMs + ahead) / 60)
    return isMinute(((minute % 60) + 60) % 60) && isHour(((hour % 24) + 24) % 24)
  }
}

function fieldTest(field: string): ((value: number) => boolean) | null {
  if (field === '*') return () => true
  const step = /^\*\/(\d+)$/.exec(field)?.[1]
  if (step !== undefined) return (value) => value % Number(step) === 0
  if (!/^\d+(,\d+)*$/.test(field)) return null
  const values = new Set(field.split(',').map(Number))
  return (value) => values.has(value)
}

const dayMs = 24 * 60 * minuteMs
/** Days from 1970 to the day on which every run starts: 2026-01-01. */
const startDay = 20_454

/** The slot that the id of a job names; null: none. */
export function slotNamed(key: string, id: string): number | null {
  if (!id.startsWith(`${key}@`)) return null
  const time = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z$/.exec(id.slice(key.length + 1))
  if (!time) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, ms = 0] = time.slice(1).map(Number)
  const inDay = ((hour * 60 + minute) * 60 + second) * 1_000 + ms
  return (daysSince1970(year, month, day) - startDay) * dayMs + inDay
}

/** Years that begin with March end with the day that is not always there. */
function daysSince1970(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const ofYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  return 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + ofYear - 719_468
}
