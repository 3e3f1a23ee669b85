import { InvalidConfig } from '../errors.ts'
import { requireWhole } from '../given.ts'

/** What a definition's numbers may be. */

/** A century, in ms: what lies beyond it may leave the instants that a store can hold. */
export const durationMsMax: number = 100 * 365 * 86_400_000

export function isDelay(delayMs: number): boolean {
  return Number.isSafeInteger(delayMs) && delayMs >= 0 && delayMs <= durationMsMax
}

/** A whole number from 1 on. Throws `InvalidConfig` naming `what`. */
export function count(what: string, value: number, max: number = Number.MAX_SAFE_INTEGER): number {
  return requireWhole(what, value, { min: 1, max }, InvalidConfig)
}
