import { InvalidArgument } from '../errors.ts'
import { requireObject, shown } from '../given.ts'
import { requireName } from './text.ts'

/** What a job is found by, as a caller states it: one value or several a dimension. */
export type LookupKeys = Readonly<Record<string, string | readonly string[]>>

const keysMax = 64
const none: readonly string[] = []

/** A dimension is a word, so that no two pairs of dimension and value are one text. */
const dimension = /^[a-z][a-z0-9_.-]{0,63}$/

/**
 * As they are stored: `dimension:VALUE`, the value trimmed and in upper case, so that it is found whatever its case;
 * and the tenant, as it is. In UTF-8 order, none twice. Throws `InvalidArgument`.
 */
export function lookupKeys(keys: LookupKeys | undefined, tenant: string | null): readonly string[] {
  if (keys === undefined && tenant === null) return none
  if (keys !== undefined) requireObject('keys', keys, InvalidArgument)
  const pairs = Object.entries(keys ?? {}).flatMap(([name, values]) =>
    [values].flat().map((value) => lookupKey(name, value)),
  )
  if (pairs.length > keysMax) {
    throw new InvalidArgument(`keys has ${pairs.length} values; at most ${keysMax} are stored with a job`)
  }
  if (tenant !== null) pairs.push(tenantKey(tenant))
  return [...new Set(pairs)].sort(byBytes)
}

/** What `keys` must contain for a job of this tenant. */
export function tenantKey(tenant: string): string {
  return `tenant=${tenant}`
}

function lookupKey(name: string, value: unknown): string {
  if (!dimension.test(name)) {
    throw new InvalidArgument(
      `a key's dimension is 1 to 64 of a-z, 0-9, _, . and -, a letter first, not ${shown(name)}`,
    )
  }
  requireName(`the key ${name}`, value, InvalidArgument)
  const trimmed = value.trim().toUpperCase()
  if (trimmed === '') throw new InvalidArgument(`the key ${name} must not be blank`)
  return `${name}:${trimmed}`
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
