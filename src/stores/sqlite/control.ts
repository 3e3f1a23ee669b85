import type { Control, ControlChange } from '../../engine/ports/store.ts'
import type { Operation } from './statements.ts'

/** A row for each thing that is stopped: all claiming, or a queue. Mostly there is none, which a claim sees at once. */
type Row = readonly [what: 'hold' | 'pause', queue: string]
const rows = 'select what, queue from holdfast_control order by queue'

export function get({ query }: Operation): Control {
  const stopped = query<Row>(rows).all()
  return {
    hold: stopped.some(([what]) => what === 'hold'),
    paused: stopped.filter(([what]) => what === 'pause').map(([, queue]) => queue),
  }
}

const stop = 'insert into holdfast_control (what, queue) values (?, ?) on conflict do nothing'
const go = 'delete from holdfast_control where what = ? and queue = ?'

export function set(operation: Operation, change: ControlChange): Control {
  const row: Row = 'hold' in change ? ['hold', ''] : ['pause', change.queue]
  const stops = 'hold' in change ? change.hold : change.paused
  operation.command(stops ? stop : go).run(...row)
  return get(operation)
}
