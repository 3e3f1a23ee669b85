import { InvalidConfig } from '../errors.ts'
import { requireObject, requireWhole } from '../given.ts'
import { durationMsMax } from '../jobs/figures.ts'

/** How an engine removes what has ended. Each job says itself for how long it is kept (`keepMs`). */
export interface RetentionOptions {
  /** From the end of one pass to the next, in ms; default 600,000. */
  readonly everyMs?: number
  /**
   * How long a dead letter that nobody replays or discards is kept, in ms; default 30 days, and never less than its
   * own `keepMs`.
   */
  readonly deadLetterMs?: number
}

export type RetentionSettings = Required<RetentionOptions>

const defaults: RetentionSettings = { everyMs: 600_000, deadLetterMs: 30 * 24 * 3_600_000 }

/** Null: this engine removes nothing. Throws `InvalidConfig`. */
export function retentionOf(given: RetentionOptions | false | undefined): RetentionSettings | null {
  if (given === false) return null
  if (given !== undefined) requireObject('retention', given, InvalidConfig)
  for (const name of Object.keys(given ?? {})) {
    if (!Object.hasOwn(defaults, name)) throw new InvalidConfig(`retention: ${name} is not an option`)
  }
  const { everyMs = defaults.everyMs, deadLetterMs = defaults.deadLetterMs } = given ?? {}
  requireWhole('retention: everyMs', everyMs, { min: 1, max: durationMsMax }, InvalidConfig)
  requireWhole('retention: deadLetterMs', deadLetterMs, { min: 0, max: durationMsMax }, InvalidConfig)
  return { everyMs, deadLetterMs }
}
