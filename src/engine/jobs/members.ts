import type { JobSpec } from './record.ts'

/**
 * Members of a stored object that a newer release has added. This one does not know what they mean, and carries them
 * along through all that it writes anew.
 */
export type Beyond = Readonly<Record<string, unknown>>

const specMembers: ReadonlySet<string> = new Set(
  Object.keys({
    id: true,
    kind: true,
    queue: true,
    band: true,
    input: true,
    inputVersion: true,
    maxAttempts: true,
    maxEvictions: true,
    backoffMs: true,
    jitter: true,
    leaseTtlMs: true,
    timeoutMs: true,
    tenant: true,
    keys: true,
    keepMs: true,
    lineage: true,
    metadata: true,
    traceparent: true,
    enqueuedAtMs: true,
  } satisfies Record<keyof JobSpec, true>),
)

/** Of a specification, or of the part of one that a schedule states. Null for nearly all. */
export function beyondSpec(spec: object): Beyond | null {
  return beyond(spec, specMembers)
}

/** The members of an object whose names are none of `known`; null: there are none. */
export function beyond(value: unknown, known: ReadonlySet<string>): Beyond | null {
  if (typeof value !== 'object' || value === null) return null
  for (const name in value) if (!known.has(name)) return unknownOf(value, known)
  return null
}

/** As own members, whatever their names are. */
function unknownOf(value: object, known: ReadonlySet<string>): Beyond {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !known.has(name)))
}
