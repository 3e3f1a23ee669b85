/** Instants and durations of a production database, for people. */

/** To the second, in UTC. */
export function instant(ms: number): string {
  return preciseInstant(ms).replace(/\.\d+Z$/, 'Z')
}

/** To the millisecond, in UTC. */
export function preciseInstant(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString().replace('T', ' ')
}

/** What a clock on the wall of a zone shows. Throws `RangeError` for a zone that this machine does not know. */
export function wallTime(ms: number, timeZone: string): string {
  const time = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  return time.format(ms)
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** Rounded down in a unit of which there are two or more: 90 s, 5 min, 3 h, 12 d. */
export function duration(ms: number): string {
  for (const [unit, size] of units) if (ms >= 2 * size) return `${Math.floor(ms / size)} ${unit}`
  return `${Math.max(0, Math.floor(ms / 1_000))} s`
}

/** All of it, in the largest unit that it is a whole number of: 150 min, 90 s, 1500 ms. */
export function exactDuration(ms: number): string {
  for (const [unit, size] of units) if (ms >= size && ms % size === 0) return `${ms / size} ${unit}`
  return `${ms} ms`
}

/** How long ago by the database's clock; of what is to come, how long until then. */
export function ago(ms: number, nowMs: number): string {
  return ms > nowMs ? `in ${duration(ms - nowMs)}` : `${duration(nowMs - ms)} ago`
}

export function instantAndAgo(ms: number, nowMs: number): string {
  return `${instant(ms)} (${ago(ms, nowMs)})`
}
