import type { CommandParams, CommandReply } from '../../../engine/ports/store.ts'
import { time } from '../clock.ts'
import type { Session } from '../database.ts'
import { firstEpoch, noted, stateOf } from '../rows.ts'
import { told } from '../wake.ts'

const ownQueue = 'to_json(array[j.queue])::text'

/** `retried` of the transitions. What starts anew was never evicted, so it is not claimed alone. */
const retryIt = `with ${time}
  update holdfast.job j set state = 0, place = 0, visible_at = t.ms, version = j.version + 1, updated_at = t.ms,
    failures = 0, evictions = 0, error = null, finished_at = null, cancel_requested_at = null, progress = null,
    last_command = $3, dead_at = null, epoch = greatest(j.epoch, ${firstEpoch}), events = ${noted('retried')}
  from t where j.seq = (select b.seq from holdfast.body b where b.id = $1) and j.version = $2::bigint
    and j.state in (3, 4) and j.replayed_as is null and j.last_command is distinct from $3
  returning j.version, ${told('$4', ownQueue)}`

/** `rescheduled`. What was never dispatched was never evicted. */
const rescheduleIt = `with ${time}
  update holdfast.job j set place = case j.place when 2 then 0 else j.place end, visible_at = t.ms + $4::bigint,
    version = j.version + 1, updated_at = t.ms, last_command = $3, events = ${noted('rescheduled')}
  from t where j.seq = (select b.seq from holdfast.body b where b.id = $1) and j.version = $2::bigint
    and j.state = 0 and j.last_command is distinct from $3
  returning j.version, ${told('$5', ownQueue)}`

export async function retry(
  session: Session,
  params: CommandParams,
  channel: string | null,
): Promise<CommandReply> {
  const { id, version, command } = params
  return answered(session, params, await session.query<[number]>(retryIt, [id, version, command, channel]))
}

export async function reschedule(
  session: Session,
  params: CommandParams & { readonly delayMs: number },
  channel: string | null,
): Promise<CommandReply> {
  const { id, version, command, delayMs } = params
  return answered(
    session,
    params,
    await session.query<[number]>(rescheduleIt, [
      id,
      version,
      command,
      delayMs,
      delayMs > 0 ? null : channel,
    ]),
  )
}

const stands = `select j.version, j.state, j.last_command
  from holdfast.body b join holdfast.job j on j.seq = b.seq where b.id = $1`

/** Where it did not apply, a second statement tells why; a repeat of what applied is known by its command. */
async function answered(
  session: Session,
  { id, command }: CommandParams,
  [applied]: readonly (readonly [version: number])[],
): Promise<CommandReply> {
  if (applied) return { kind: 'applied', version: applied[0] }
  type Row = [version: number, state: number, lastCommand: string | null]
  const [row] = await session.query<Row>(stands, [id])
  if (row?.[2] === command) return { kind: 'applied', version: row[0] }
  return { kind: 'refused', version: row?.[0] ?? null, state: row ? stateOf(row[1]) : null }
}
