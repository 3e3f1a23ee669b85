import { types } from 'node:util'

/**
 * Instants as people write them. The only file of the engine, beside `system.ts`, that touches `Date`: it gives it the
 * instant each time, and never asks it for the time of the machine.
 */

/** Local time as if it were UTC, in ms since 1970: what a clock on the wall of the zone shows. */
export type LocalMs = number

export interface Zone {
  /** By how much local time is ahead of UTC at an instant. */
  offsetAt(atMs: number): number
  /** When the offset changes in (from, to]; null where it is the same at both. That it changed twice is not seen. */
  change(fromMs: number, toMs: number): number | null
}

const utc: Zone = { offsetAt: () => 0, change: () => null }

/** Throws `RangeError` for a zone that this machine does not know. */
export function zoneOf(name: string): Zone {
  if (name === 'UTC') return utc
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })

  function offsetAt(atMs: number): number {
    const fields: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(atMs)) fields[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields
    const local = Date.UTC(year, month - 1, day, hour, minute, second)
    return local - Math.floor(atMs / 1_000) * 1_000
  }

  return {
    offsetAt,
    change: (fromMs, toMs) => {
      const before = offsetAt(fromMs)
      if (offsetAt(toMs) === before) return null
      let [low, high] = [Math.floor(fromMs / 1_000), Math.ceil(toMs / 1_000)]
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2)
        if (offsetAt(middle * 1_000) === before) low = middle
        else high = middle
      }
      return high * 1_000
    },
  }
}

/** Such as 2026-03-29T01:00:00.000Z. */
export function isoOf(atMs: number): string {
  return new Date(atMs).toISOString()
}

export function dateOf(atMs: number): Date {
  return new Date(atMs)
}

/** Of another realm, too. */
export function isDate(value: unknown): value is Date {
  return types.isDate(value)
}
