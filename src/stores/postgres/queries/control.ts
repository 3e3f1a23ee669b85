import type { Control, ControlChange } from '../../../engine/ports/store.ts'
import type { Session } from '../database.ts'

/** A row for each thing that is stopped: all claiming, or a queue. A claim reads them in its own statement. */
const stopped = 'select what, queue from holdfast.control order by queue'

export async function get(session: Session): Promise<Control> {
  const rows = await session.query<[what: string, queue: string]>(stopped)
  return {
    hold: rows.some(([what]) => what === 'hold'),
    paused: rows.filter(([what]) => what === 'pause').map(([, queue]) => queue),
  }
}

const stop = 'insert into holdfast.control (what, queue) values ($1, $2) on conflict do nothing'
const go = 'delete from holdfast.control where what = $1 and queue = $2'

/** Two statements, since the first does not see what it has changed. */
export async function set(session: Session, change: ControlChange): Promise<Control> {
  const row = 'hold' in change ? ['hold', ''] : ['pause', change.queue]
  const stops = 'hold' in change ? change.hold : change.paused
  await session.query(stops ? stop : go, row)
  return get(session)
}
