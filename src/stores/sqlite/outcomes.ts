import type { JobError } from '../../engine/jobs/record.ts'
import type { JobOutcome } from '../../engine/ports/store.ts'
import { parsed, stateOf } from './rows.ts'
import type { Operation } from './statements.ts'

const outcome = `select state, result, error from holdfast_job
  where seq = (select seq from holdfast_body where id = ?)`

export function outcomes(
  { query }: Operation,
  { ids }: { readonly ids: readonly string[] },
): readonly (JobOutcome | null)[] {
  const one = query<[state: number, result: string | null, error: string | null]>(outcome)
  return ids.map((id) => {
    const row = one.get(id)
    return row ? { state: stateOf(row[0]), result: row[1], error: parsed<JobError>(row[2]) } : null
  })
}
