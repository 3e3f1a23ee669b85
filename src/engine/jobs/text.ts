import { type HoldfastError, InvalidArgument } from '../errors.ts'

export const nameLengthMax = 512

/** Ids and names: 1 - 512 characters, well-formed, without NUL, so that every store keeps them unchanged. */
export function requireName(
  what: string,
  value: unknown,
  Refusal: new (message: string) => HoldfastError,
): asserts value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > nameLengthMax) {
    throw new Refusal(`${what} must be a string of 1 to ${nameLengthMax} characters`)
  }
  if (value.includes('\0') || !value.isWellFormed()) {
    throw new Refusal(`${what} must not contain NUL or a lone surrogate: ${JSON.stringify(value)}`)
  }
}

/** The id of a job that a caller asks about. Throws `InvalidArgument`. */
export function requireId(id: unknown): asserts id is string {
  requireName('a job id', id, InvalidArgument)
}

/** What a thrown value says. It may be anything, and may itself throw when it is read. */
export function textOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  } catch {
    return 'a value that cannot be printed was thrown'
  }
}

/** `instanceof`, of any value: a revoked proxy throws when it is asked for its prototype. */
export function isA<T>(type: abstract new (...args: never[]) => T, thrown: unknown): thrown is T {
  try {
    return thrown instanceof type
  } catch {
    return false
  }
}

const messageLengthMax = 8_192

/** Text that the system itself stores, such as an error message: made storable, and marked where it was not. */
export function storableText(value: string): string {
  const text = value.toWellFormed().replaceAll('\0', '\uFFFD')
  return text.length > messageLengthMax
    ? `${text.slice(0, messageLengthMax)} ... (truncated)`.toWellFormed()
    : text
}
