import type { CancelReply } from '../../../engine/ports/store.ts'
import { time } from '../clock.ts'
import type { Session } from '../database.ts'
import { noted, stateOf } from '../rows.ts'

/** `cancelRequested` of the transitions. */
const ask = `with ${time}
  update holdfast.job j set cancel_requested_at = t.ms, version = j.version + 1, updated_at = t.ms,
    state = case j.state when 0 then 4 else j.state end, place = null,
    events = ${noted('cancel-requested')},
    finished_at = case j.state when 0 then t.ms else j.finished_at end
  from t where j.seq = (select b.seq from holdfast.body b where b.id = $1)
    and j.state in (0, 1) and j.cancel_requested_at is null returning j.state`

const stateById = `select j.state from holdfast.body b join holdfast.job j on j.seq = b.seq where b.id = $1`

export async function requestCancel(session: Session, { id }: { readonly id: string }): Promise<CancelReply> {
  const [asked] = await session.query<[state: number]>(ask, [id])
  const [row] = asked ? [asked] : await session.query<[state: number]>(stateById, [id])
  if (!row) return { kind: 'missing' }
  const state = stateOf(row[0])
  if (state === 'running') return { kind: 'requested' }
  // The repeat of a cancel that ended the job says so again.
  return state === 'cancelled' ? { kind: 'cancelled' } : { kind: 'ended', state }
}
