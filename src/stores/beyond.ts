import { type Beyond, beyondSpec } from '../engine/jobs/members.ts'
import type { JobSpec } from '../engine/jobs/record.ts'

/**
 * What a newer release has added to a specification, as the one JSON text that SQL stores keep of it. No statement
 * looks into it, so it holds whatever JSON can say.
 */

export function beyondText(spec: JobSpec): string | null {
  const beyond = beyondSpec(spec)
  return beyond && JSON.stringify(beyond)
}

/** Once this release knows such a member, what others have carried along is what it says. */
export function withBeyond(spec: JobSpec, text: string | null): JobSpec {
  return text === null ? spec : { ...spec, ...(JSON.parse(text) as Beyond) }
}
