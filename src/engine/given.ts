import { type HoldfastError, InvalidArgument } from './errors.ts'

/** Checks of what callers pass who have no types to tell them. */

type Refusal = new (message: string) => HoldfastError

const shownLengthMax = 80

/** What a value is, in a few characters. Of an object never the content, which may be secret. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `'${JSON.stringify(value.slice(0, shownLengthMax)).slice(1, -1)}'`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return String(value)
}

export function requireObject(what: string, value: unknown, Refused: Refusal): asserts value is object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  throw new Refused(`${what} must be an object, not ${shown(value)}`)
}

export function requireFunction(what: string, value: unknown, Refused: Refusal): void {
  if (typeof value !== 'function') throw new Refused(`${what} must be a function, not ${shown(value)}`)
}

/** Every option that there is, by name. */
export type Names<Options> = { readonly [Name in keyof Required<Options>]: true }

/** A misspelt option that was ignored would do something else than was asked for. */
export function requireKnown(what: string, given: object, names: object, Refused: Refusal): void {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(names, name)) continue
    const known = Object.keys(names).join(', ')
    throw new Refused(
      `${what}: ${shown(name)} is not an option; there ${known === '' ? 'is none' : `are ${known}`}`,
    )
  }
}

/** The options of a call, which may be left out. */
export function optionsOf<Options extends object>(
  given: Options | undefined,
  names: Names<Options>,
): Options | Record<string, never> {
  if (given === undefined) return {}
  requireObject('options', given, InvalidArgument)
  requireKnown('options', given, names, InvalidArgument)
  return given
}

/** A whole number. Throws naming `what` and the bounds. */
export function requireWhole(
  what: string,
  value: unknown,
  { min, max }: { readonly min: number; readonly max: number },
  Refused: Refusal,
): number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max)
    return value as number
  throw new Refused(`${what} must be a whole number from ${min} to ${max}, not ${shown(value)}`)
}
