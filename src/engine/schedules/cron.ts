import { CronDate, CronPattern } from 'croner'
import { type LocalMs, type Zone, dateOf, zoneOf } from './calendar.ts'
import type { Slots } from './slots.ts'

/**
 * When a cron expression fires. The library reads the expression, and finds the next time that it names on a clock
 * which is never changed; when that is, where clocks are, is said here, so that nothing of it asks what time it is.
 *
 * An expression without `*` or a step in its minutes and hours names times of the day: each is fired once a day, at the
 * first of the two instants that a repeated hour gives it, and where the clock skips it, at the first instant after the
 * gap. Any other names a rhythm: every instant at which the clock shows such a time, in a repeated hour too; what the
 * clock skips is no such instant.
 */
const dayMs = 86_400_000

/** Throws what the library or the zone says of what they do not know. */
export function cronSlots(expression: string, timeZone: string): Slots {
  const zone = zoneOf(timeZone)
  const pattern = new CronPattern(expression, undefined, { mode: '5-part', fixedTimeRule: 'no-wildcard' })
  const fixed = pattern.isFixedTime
  const instants = fixed ? onceADay : everyTime

  function nextLocal(afterMs: LocalMs): LocalMs | null {
    return new CronDate(dateOf(afterMs), 0).increment(pattern, {}, false)?.getTime() ?? null
  }

  return {
    next: (afterMs) => {
      const offsetMs = zone.offsetAt(afterMs)
      let fromMs = afterMs
      let local = nextLocal(afterMs + offsetMs)
      // A rhythm goes on at the change of the clock with what the clock shows then, be it again or later.
      const changeMs = fixed ? null : zone.change(afterMs, afterMs + dayMs)
      if (changeMs !== null && (local === null || local - offsetMs >= changeMs)) {
        fromMs = changeMs - 1
        local = nextLocal(fromMs + zone.offsetAt(changeMs))
      }
      for (; local !== null; local = nextLocal(local)) {
        const slot = instants(zone, local).find((atMs) => atMs > fromMs)
        if (slot !== undefined) return slot
      }
      return null
    },
  }
}

function onceADay(zone: Zone, local: LocalMs): number[] {
  const [first] = everyTime(zone, local)
  if (first !== undefined) return [first]
  const nearMs = local - zone.offsetAt(local)
  return [zone.change(nearMs - dayMs, nearMs + dayMs) ?? nearMs]
}

/** The instants at which the clock shows that time: none where it is skipped, two where it is repeated. */
function everyTime(zone: Zone, local: LocalMs): number[] {
  const nearMs = local - zone.offsetAt(local)
  const before = zone.offsetAt(nearMs - dayMs)
  const after = zone.offsetAt(nearMs + dayMs)
  if (before === after) return [local - before]
  return [local - before, local - after]
    .filter((atMs) => zone.offsetAt(atMs) === local - atMs)
    .toSorted((a, b) => a - b)
}
