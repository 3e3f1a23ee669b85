import { InvalidArgument } from '../errors.ts'
import { requireName } from './text.ts'

/** Which jobs a list is about: of one kind or queue, or of several. */
export interface Lanes {
  readonly kind?: string | readonly string[]
  readonly queue?: string | readonly string[]
}

/** As the ports of stores take them. Throws `InvalidArgument`. */
export function lanesOf({ kind, queue }: Lanes): {
  readonly kinds?: readonly string[]
  readonly queues?: readonly string[]
} {
  return {
    ...(kind !== undefined && { kinds: listOf('kind', kind, requireNameOf) }),
    ...(queue !== undefined && { queues: listOf('queue', queue, requireNameOf) }),
  }
}

/** One or several. None at all is more likely a mistake than a question. */
export function listOf<T>(
  what: string,
  given: T | readonly T[],
  require: (what: string, value: T) => void,
): readonly T[] {
  const values = [given].flat() as readonly T[]
  if (values.length === 0) throw new InvalidArgument(`${what} must name at least one, or be left out`)
  for (const value of values) require(what, value)
  return [...new Set(values)]
}

function requireNameOf(what: string, value: unknown): void {
  requireName(`a ${what}`, value, InvalidArgument)
}
