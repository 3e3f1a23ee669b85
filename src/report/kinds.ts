import { fingerprintOf } from '../sim/shrink.ts'
import type { Failure } from '../sim/tally.ts'

/** Failures that are one to a person, together, in the order of the first. */
export function byKind(failures: readonly Failure[]): (readonly [Failure, ...Failure[]])[] {
  const kinds = new Map<string, [Failure, ...Failure[]]>()
  for (const failure of failures) {
    const violation = failure.result?.violations[0]
    const key = JSON.stringify([failure.kind, violation ? fingerprintOf(violation) : failure.message])
    const known = kinds.get(key)
    if (known) known.push(failure)
    else kinds.set(key, [failure])
  }
  return [...kinds.values()]
}
