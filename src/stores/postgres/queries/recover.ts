import type { RecoverReply } from '../../../engine/ports/store.ts'
import { nowMs } from '../clock.ts'
import type { Session } from '../database.ts'
import { type ClaimedRow, claimedColumns, claimedOf } from '../rows.ts'
import { renewLeases } from './renew.ts'

/** Waits for a claim in flight under the token; what comes later than this fails whole. It locks no job. */
const addVoid = `insert into holdfast.claim (claim, made_at, token, jobs)
  values (nextval('holdfast.claim_seq'), ${nowMs}, $1, '{}') on conflict (token) do nothing returning 1`

const isVoid = `select worker is null from holdfast.claim where token = $1`

const under = `select ${claimedColumns}, null::bigint, j.seq
  from (select claim, jobs from holdfast.claim where token = $1) c
  cross join lateral unnest(c.jobs) with ordinality as u(seq, k)
  cross join lateral (select * from holdfast.job j where j.seq = u.seq and j.claim = c.claim and j.state = 1 offset 0) j
  cross join lateral (select * from holdfast.body b where b.seq = u.seq offset 0) b
  order by u.k`

/**
 * Statements that commit each on its own: in one, or in one snapshot, the read would miss the claim that the
 * insert waited for.
 */
export async function recover(
  session: Session,
  { token, worker }: { readonly token: string; readonly worker: string },
): Promise<RecoverReply> {
  if ((await session.query(addVoid, [token])).length === 1) return { kind: 'voided' }
  const [header] = await session.query<[isVoid: boolean]>(isVoid, [token])
  if (header?.[0]) return { kind: 'voided' }
  await renewLeases(session, worker, [token])
  return { kind: 'recovered', jobs: claimedOf(await session.query<ClaimedRow>(under, [token]), null) }
}
