import type { RestoredParams, RestoredReply } from '../../../engine/ports/store.ts'
import { time } from '../clock.ts'
import type { Database, Session } from '../database.ts'
import { firstEpoch, noted, placeOf } from '../rows.ts'
import { get } from './control.ts'
import { timelineOf } from './timeline.ts'

const begin = `insert into holdfast.timeline as l (one, timeline, command) values (true, greatest(1, $2::bigint), $1)
  on conflict (one) do update set timeline = greatest(l.timeline + 1, excluded.timeline), command = excluded.command
  where l.command <> excluded.command returning l.timeline`

/**
 * `restored` of the transitions, for all that has not ended, in one statement: it reads the whole table, and writes a
 * row and an index entry for each job that waits (100,000 take a second or two). Rows are locked in the order of their
 * sequence, as by everybody.
 */
const leap = `with ${time},
open as materialized (select j.seq, j.state from holdfast.job j where j.state in (0, 1) order by j.seq for update),
moved as (update holdfast.job j set epoch = greatest(j.epoch, ${firstEpoch}), version = j.version + 1,
    updated_at = t.ms, claim = null,
    state = case when j.state = 1 and j.cancel_requested_at is not null then 4 else 0 end,
    finished_at = case when j.state = 1 and j.cancel_requested_at is not null then t.ms else j.finished_at end,
    place = case when j.state = 0 then j.place when j.cancel_requested_at is null
      then ${placeOf('j.evictions', '(select b.spec from holdfast.body b where b.seq = j.seq)')} end,
    visible_at = case when j.state = 1 and j.cancel_requested_at is null then t.ms else j.visible_at end,
    events = case j.state when 1 then ${noted('restored')} else j.events end
  from open o, t where j.seq = o.seq returning j.seq, j.epoch, j.state)
select b.id, m.epoch, m.state from open o join moved m on m.seq = o.seq join holdfast.body b on b.seq = o.seq
where o.state = 1 order by o.seq`

type Row = [id: string, epoch: number, state: number]

export async function restored(
  database: Database,
  { command, timelineMin }: RestoredParams,
): Promise<RestoredReply> {
  return database.transaction('common', async (session) => {
    const began = (await session.query(begin, [command, timelineMin])).length === 1
    const taken = began ? await takeAll(session) : []
    return { control: await get(session), timeline: await timelineOf(session), taken }
  })
}

async function takeAll(session: Session): Promise<RestoredReply['taken']> {
  const rows = await session.query<Row>(leap)
  await session.query('delete from holdfast.lease')
  // Claims that were made void stay so: one of them may still be on its way.
  await session.query('delete from holdfast.claim where worker is not null')
  await session.query(`delete from holdfast.control where what = 'hold'`)
  return rows.map(([id, epoch, state]) => ({ id, epoch, state: state === 4 ? 'cancelled' : 'queued' }))
}
