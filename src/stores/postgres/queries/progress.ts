import type { Progress } from '../../../engine/jobs/record.ts'
import type { Fenced, JobEpoch } from '../../../engine/ports/store.ts'
import { nowMs } from '../clock.ts'
import type { Session } from '../database.ts'

/** `progressed` of the transitions in one statement, a heap-only update: a handler may send many a second. */
const note = `update holdfast.job j set progress = $3, version = j.version + 1, updated_at = ${nowMs}
  where j.seq = (select b.seq from holdfast.body b where b.id = $1 and b.seq = coalesce($4::bigint, b.seq)) and j.state = 1 and j.epoch = $2::bigint returning 1`

export async function progress(session: Session, params: JobEpoch & Progress): Promise<Fenced> {
  const { id, epoch, seq, percent, phase } = params
  const rows = await session.query(note, [id, epoch, JSON.stringify({ percent, phase }), seq ?? null])
  return { applied: rows.length === 1 }
}
