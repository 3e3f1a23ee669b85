import type { RenewParams, RenewReply } from '../../../engine/ports/store.ts'
import { nowMs } from '../clock.ts'
import type { Session } from '../database.ts'

/**
 * Two statements, however many claims: one writes lease rows and nothing else, one reads what runs under them.
 * In one, the read would not see that a reclaim, for which the write had to wait, has taken the jobs.
 */
export async function renew(session: Session, { worker, tokens }: RenewParams): Promise<RenewReply> {
  await renewLeases(session, worker, tokens)
  const rows = await session.query<[id: string, epoch: number, cancel: boolean]>(held, [tokens, worker])
  return { held: rows.map(([id, epoch, cancel]) => ({ id, epoch, cancel })) }
}

/** Heap-only: no index knows when a lease expires. The row is found by its key, which two renewals lock in one order. */
const renewed = `update holdfast.lease l set expires_at = ${nowMs} + l.ttl_ms
  where l.claim = any(array(select c.claim from holdfast.claim c where c.token = any($1::text[]) and c.worker = $2))`

/** A lease that lapsed but was not taken is renewed like any other; one that was taken has no row left. */
export async function renewLeases(
  session: Session,
  worker: string,
  tokens: readonly string[],
): Promise<void> {
  await session.query(renewed, [tokens, worker])
}

/** Each lookup is a lateral one by key: a join over guessed sizes would read the table. */
const held = `select b.id, j.epoch, j.cancel_requested_at is not null
  from unnest($1::text[]) with ordinality as g(token, n)
  cross join lateral (select c.claim, c.jobs from holdfast.claim c where c.token = g.token and c.worker = $2 offset 0) c
  cross join lateral unnest(c.jobs) with ordinality as u(seq, k)
  cross join lateral (select j.epoch, j.cancel_requested_at from holdfast.job j
    where j.seq = u.seq and j.claim = c.claim and j.state = 1 offset 0) j
  cross join lateral (select b.id from holdfast.body b where b.seq = u.seq offset 0) b
  order by g.n, u.k`
