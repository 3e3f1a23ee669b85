import type { JobRecord } from '../../engine/jobs/record.ts'
import { jobsOf, selectJobs } from './rows.ts'
import type { Operation } from './statements.ts'

export function get(operation: Operation, { id }: { readonly id: string }): JobRecord | null {
  return jobsOf(operation, `${selectJobs} where b.id = ?`, id)[0] ?? null
}
