import type { JobError } from '../../../engine/jobs/record.ts'
import type { JobOutcome } from '../../../engine/ports/store.ts'
import type { Session } from '../database.ts'
import { stateOf } from '../rows.ts'

const found = `select j.state, j.result, j.error from unnest($1::text[]) with ordinality as x(id, n)
  left join holdfast.body b on b.id = x.id left join holdfast.job j on j.seq = b.seq order by x.n`

export async function outcomes(
  session: Session,
  { ids }: { readonly ids: readonly string[] },
): Promise<readonly (JobOutcome | null)[]> {
  type Row = [state: number | null, result: string | null, error: string | null]
  const rows = await session.query<Row>(found, [ids])
  return rows.map(([state, result, error]) =>
    state === null
      ? null
      : { state: stateOf(state), result, error: error === null ? null : (JSON.parse(error) as JobError) },
  )
}
