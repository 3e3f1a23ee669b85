import { isDeepStrictEqual } from 'node:util'

/** JSON text of a value, or null for `undefined`. Throws TypeError for what JSON cannot say. */
export function toJson(value: unknown): string | null {
  const text = stringified(value)
  if (text === undefined && value !== undefined) {
    throw new TypeError(`a ${typeof value} has no JSON form`)
  }
  return text ?? null
}

/** A replacer is asked for every member, which doubles the cost: it only words the error. */
function stringified(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return JSON.stringify(value, refuseBigint)
  }
}

function refuseBigint(key: string, value: unknown): unknown {
  if (typeof value === 'bigint') throw new TypeError(`${key || 'the value'} is a bigint; pass it as a string`)
  return value
}

/**
 * Whether two inputs mean the same, whatever the order of their keys. What is no JSON, but the work of a codec, is
 * the same only as a text.
 */
export function sameJson(a: string, b: string): boolean {
  if (a === b) return true
  try {
    return isDeepStrictEqual(JSON.parse(a), JSON.parse(b))
  } catch {
    return false
  }
}
