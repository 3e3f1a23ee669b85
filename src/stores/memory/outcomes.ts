import type { JobOutcome } from '../../engine/ports/store.ts'
import type { Content } from './content.ts'

export function outcomes(
  { jobs }: Content,
  { ids }: { readonly ids: readonly string[] },
): (JobOutcome | null)[] {
  return ids.map((id) => {
    const job = jobs.get(id)
    return job ? { state: job.state, result: job.result, error: job.error } : null
  })
}
