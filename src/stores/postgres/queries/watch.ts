import type { WatchMoveParams, WatchMoveReply, WatchState } from '../../../engine/ports/store.ts'
import { nowMs, time } from '../clock.ts'
import type { Session } from '../database.ts'
import { beyond, isSilent } from './silent.ts'

/** The outage watch is one row; its rules (`engine/recovery/watch.ts`) are said in SQL, since it moves in one statement. */

/** `isFresh`, of the row `w`. */
const fresh = '(w.seen_at is not null and t.ms - w.seen_at <= 2 * w.sweep_ms and w.seen_at - t.ms <= 1000)'
/** For how long the store has been seen without interruption; -1 if it is not being seen. */
export const quiet: string = `coalesce((select case when ${fresh} and w.seen_since is not null then t.ms - w.seen_since end
  from holdfast.watch w, t), -1)`
const first = `insert into holdfast.watch (one, sweep_ms) values (true, $1) on conflict do nothing`
const declared = `select sweep_ms, ${nowMs} from holdfast.watch`

/** Two statements: the second sees what another has committed while the first waited for it. */
export async function declare(
  session: Session,
  { sweepMs }: { readonly sweepMs: number },
): Promise<{ readonly sweepMs: number; readonly nowMs: number }> {
  await session.query(first, [sweepMs])
  const [row] = await session.query<[sweepMs: number, nowMs: number]>(declared)
  const [decided, now] = row as [number, number]
  return { sweepMs: decided, nowMs: now }
}

/**
 * Locks the row first, so that of two movers the second goes on from what the first has written. Beside it looks
 * for a silent lease; one without its claim row is nobody's, and no reclaim would find it.
 */
const moved = `with ${time},
${beyond},
w as materialized (select * from holdfast.watch for update),
next as (select case
    when t.ms - ($1::float8 + $2::float8) > $3::float8 then 'refused'
    when t.ms - ($1::float8 + $2::float8) < -1000 then 'restarted'
    when w.seen_since is not null and ${fresh}
      then case when $1::float8 < w.seen_since then 'refused' else 'moved' end
    else 'restarted' end as kind, w.seen_since, w.seen_at from w, t),
written as (update holdfast.watch o
  set seen_since = case n.kind when 'moved' then n.seen_since else t.ms end,
    seen_at = case n.kind when 'moved' then greatest(n.seen_at, t.ms) else t.ms end
  from next n, t where n.kind <> 'refused' returning o.seen_since)
select n.kind, t.ms, coalesce((select seen_since from written), n.seen_since, t.ms),
  exists (select from holdfast.lease l join holdfast.claim c on c.claim = l.claim where ${isSilent})
from t left join next n on true`

export async function move(
  session: Session,
  { lastReplyMs, sinceReplyMs, maxAgeMs }: WatchMoveParams,
): Promise<WatchMoveReply> {
  type Row = [kind: WatchMoveReply['kind'] | null, nowMs: number, seenSinceMs: number, silent: boolean]
  const [row] = await session.query<Row>(moved, [lastReplyMs, sinceReplyMs, maxAgeMs])
  const [kind, nowMs, seenSinceMs, silent] = row as Row
  // Without a period nothing is fresh, and a row made here would decide the period of the fleet.
  return { kind: kind ?? 'refused', nowMs, seenSinceMs, silent }
}

export async function watchOf(session: Session): Promise<WatchState | null> {
  type Row = [sweepMs: number, seenSinceMs: number | null, seenAtMs: number | null]
  const [row] = await session.query<Row>('select sweep_ms, seen_since, seen_at from holdfast.watch')
  return row ? { sweepMs: row[0], seenSinceMs: row[1], seenAtMs: row[2] } : null
}
