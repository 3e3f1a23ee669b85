import { InvalidConfig } from './errors.ts'
import { requireObject, requireWhole } from './given.ts'
import { durationMsMax } from './jobs/figures.ts'

/** Intervals of one engine, in ms. The defaults go together; see `requireMargin`. */
export interface Intervals {
  /** Longest time between two heartbeats; default 10,000, and never more than a third of the shortest lease held. */
  readonly heartbeatMs: number
  /** A failed heartbeat or settle is tried again after this; default 2,000. */
  readonly heartbeatRetryMs: number
  /** Period of the outage watch and of reclaiming; one value for all engines on a store. Default 5,000. */
  readonly sweepMs: number
  /** First wait after an empty poll; default 1,000. It doubles up to `pollMsMax`. */
  readonly pollMs: number
  /** Default 30,000. */
  readonly pollMsMax: number
  /** The slowest healthy store call; default 1,000. */
  readonly replyMs: number
  /** How long a handler may ignore its signal before its attempt is settled without it; default 10,000. */
  readonly abandonMs: number
}

export const defaultIntervals: Intervals = {
  heartbeatMs: 10_000,
  heartbeatRetryMs: 2_000,
  sweepMs: 5_000,
  pollMs: 1_000,
  pollMsMax: 30_000,
  replyMs: 1_000,
  abandonMs: 10_000,
}

export function intervalsOf(given: Partial<Intervals> | undefined): Intervals {
  const intervals: Record<string, number> = { ...defaultIntervals }
  if (given !== undefined) requireObject('intervals', given, InvalidConfig)
  for (const [name, value] of Object.entries(given ?? {})) {
    if (!Object.hasOwn(intervals, name)) throw new InvalidConfig(`${name} is not an interval`)
    if (value !== undefined) intervals[name] = value
  }
  for (const [name, value] of Object.entries(intervals)) {
    requireWhole(name, value, { min: 1, max: durationMsMax }, InvalidConfig)
  }
  return intervals as unknown as Intervals
}

export function heartbeatMsFor(intervals: Intervals, leaseTtlMs: number): number {
  return Math.min(intervals.heartbeatMs, Math.floor(leaseTtlMs / 3))
}

/**
 * A healthy worker must be able to renew, and a sweep to notice an outage, before a lease can lapse:
 * `heartbeatMs + 2 x sweepMs + storeCallMs + heartbeatRetryMs + 2 x replyMs < leaseTtlMs`.
 */
export function requireMargin(
  what: string,
  intervals: Intervals,
  storeCallMs: number,
  leaseTtlMs: number,
): void {
  const { sweepMs, heartbeatRetryMs, replyMs } = intervals
  const heartbeatMs = heartbeatMsFor(intervals, leaseTtlMs)
  const needMs = heartbeatMs + 2 * sweepMs + storeCallMs + heartbeatRetryMs + 2 * replyMs
  if (needMs < leaseTtlMs) return
  throw new InvalidConfig(
    `${what}: leaseTtlMs ${leaseTtlMs} must be over ${needMs} = heartbeatMs ${heartbeatMs} + 2 x sweepMs ${sweepMs}` +
      ` + storeCallMs ${storeCallMs} + heartbeatRetryMs ${heartbeatRetryMs} + 2 x replyMs ${replyMs}; raise it, or lower these`,
  )
}
