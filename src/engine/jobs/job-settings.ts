import { InvalidConfig } from '../errors.ts'
import { type Names, requireKnown, requireObject, requireWhole, shown } from '../given.ts'
import { backoffTable, defaultBackoff, requireBackoff } from './backoff.ts'
import type { JobOptions, RetryOptions } from './definition.ts'
import { count, durationMsMax, isDelay } from './figures.ts'
import { requireName } from './text.ts'

export type Priority = 'critical' | 'high' | 'normal' | 'low'
export const priorities: readonly Priority[] = ['critical', 'high', 'normal', 'low']

/** What a definition says of its jobs, with every default filled in. */
export interface JobSettings {
  readonly inputVersion: number
  readonly queue: string
  readonly band: number
  readonly maxAttempts: number
  readonly maxEvictions: number
  readonly backoffMs: readonly number[]
  readonly jitter: boolean
  readonly leaseTtlMs: number
  readonly timeoutMs: number
  readonly keepMs: number
  readonly onUncertainLease: 'continue' | 'abort'
}

const retryNames: Names<RetryOptions> = { maxAttempts: true, maxEvictions: true, backoff: true }

/** Fills in the defaults of a definition, and refuses what cannot work. Throws `InvalidConfig`. */
export function settingsOf(options: Omit<JobOptions<unknown, unknown>, 'input'>): JobSettings {
  const { retry = {}, name } = options
  requireObject(`job ${name}: retry`, retry, InvalidConfig)
  requireKnown(`job ${name}: retry`, retry, retryNames, InvalidConfig)
  const backoff = retry.backoff === undefined ? defaultBackoff : retry.backoff
  requireBackoff(`job ${name}: backoff`, backoff)
  const maxAttempts = count(`job ${name}: maxAttempts`, retry.maxAttempts ?? 3)
  const maxEvictions = count(`job ${name}: maxEvictions`, retry.maxEvictions ?? 3)
  const backoffMs = backoffTable(backoff, Math.max(maxAttempts, maxEvictions))
  if (!backoffMs.every((delayMs, n) => isDelay(delayMs) && delayMs >= (backoffMs[n - 1] ?? 0))) {
    throw new InvalidConfig(
      `job ${name}: backoff gives ${backoffMs.join(', ')}; delays must be 0 to ${durationMsMax} ms and never fall`,
    )
  }
  const queue = options.queue ?? 'default'
  requireName('a queue name', queue, InvalidConfig)
  const band = priorities.indexOf(options.priority ?? 'normal')
  if (band < 0) {
    throw new InvalidConfig(
      `job ${name}: priority must be one of ${priorities.join(', ')}, not ${shown(options.priority)}`,
    )
  }
  const onUncertainLease = options.onUncertainLease ?? 'continue'
  if (onUncertainLease !== 'continue' && onUncertainLease !== 'abort') {
    throw new InvalidConfig(`job ${name}: onUncertainLease must be 'continue' or 'abort'`)
  }
  return {
    inputVersion: count(`job ${name}: inputVersion`, options.inputVersion ?? 1),
    queue,
    band,
    maxAttempts,
    maxEvictions,
    backoffMs,
    jitter: backoff.jitter ?? false,
    leaseTtlMs: count(`job ${name}: leaseTtlMs`, options.leaseTtlMs ?? 30_000, durationMsMax),
    timeoutMs: count(`job ${name}: timeoutMs`, options.timeoutMs ?? 300_000, durationMsMax),
    keepMs: requireWhole(
      `job ${name}: keepMs`,
      options.keepMs ?? defaultKeepMs,
      { min: 0, max: durationMsMax },
      InvalidConfig,
    ),
    onUncertainLease,
  }
}

export const defaultKeepMs: number = 7 * 24 * 3_600_000
