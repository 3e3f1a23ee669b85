import type { JobRecord } from '../../../engine/jobs/record.ts'
import type { Session } from '../database.ts'
import { recordsOf, selectRecords } from '../rows.ts'

export async function get(session: Session, { id }: { readonly id: string }): Promise<JobRecord | null> {
  return recordsOf(await session.query(`${selectRecords} where b.id = $1`, [id]))[0] ?? null
}
