import type { ClaimParams, ClaimReply } from '../../../engine/ports/store.ts'
import { time } from '../clock.ts'
import type { Database, Param, Session, Value } from '../database.ts'
import { isDuplicate } from '../errors.ts'
import { type ClaimedRow, claimedColumns, claimedOf, kindKey } from '../rows.ts'
import { choose } from './due.ts'

/** The answer to a claim that asks for nothing: known without asking the database. */
function vain({ limit, queues, kinds }: ClaimParams): ClaimReply | null {
  const wants = limit > 0 && kinds.length > 0 && queues.some(({ limit }) => limit > 0)
  return wants ? null : { kind: 'claimed', jobs: [], soloWaiting: false }
}

/**
 * What follows once `pick` holds the `tid` of locked rows: `claimed` of the transitions, the header and the lease
 * rows. Rows are found by their place in the heap, which no plan can turn into a join; one that was changed
 * between snapshot and lock is not found there, and stays for the next claim. A token that is there already fails
 * the whole statement.
 */
const take = `header as materialized (select nextval('holdfast.claim_seq') as claim where exists (select from pick)),
taken as (update holdfast.job j set state = 1, place = null, claim = (select claim from header), epoch = j.epoch + 1,
    attempt = j.attempt + 1, version = j.version + 1, updated_at = (select ms from t), progress = null
  from holdfast.body b where j.ctid = any(array(select tid from pick)) and j.state = 0 and b.seq = j.seq
  returning ${claimedColumns}, (select ms from t) - j.visible_at as waited_ms, j.visible_at, j.seq, b.lease_ttl_ms, b.bound_ms),
claimed as (insert into holdfast.claim (claim, made_at, bound_ms, token, worker, jobs)
  select (select claim from header), (select ms from t), min(bound_ms), $1, $2,
    array_agg(seq order by band, visible_at, seq) from taken having count(*) > 0),
leased as (insert into holdfast.lease (claim, ttl_ms, expires_at)
  select (select claim from header), d.lease_ttl_ms, (select ms from t) + d.lease_ttl_ms
  from (select distinct lease_ttl_ms from taken) d)`
/** Of `taken k`. */
function resultOf(kind: string, queue: string, spec: string): string {
  return `k.id, ${kind}, ${queue}, k.band, k.input, ${spec}, k.labels, k.metadata, k.traceparent, k.enqueued_at, k.beyond,
  k.epoch, k.attempt, k.failures, k.evictions, k.waited_ms, k.seq`
}
const inClaimOrder = 'order by k.band, k.visible_at, k.seq'

/** The waiting jobs of one queue, kind and band that are due, in claim order; `l` is the lane. */
const due = `from holdfast.job j where j.place = 0 and j.queue = l.queue and j.kind_key = l.kind_key and j.kind = l.kind
    and j.band = l.band and j.visible_at <= (select ms from t) order by j.visible_at, j.seq`

/**
 * The same, locked as they are read, which is only as far as somebody asks. The limit is the planner's: without it,
 * it expects to read the whole lane, and sorts what it could read in order.
 */
const locked = `select j.ctid as tid ${due} limit $7::bigint for update skip locked`

/**
 * What a claim may look at. What is held, paused or without room is no lane. If a job on its last eviction is due
 * there is none at all, and the answer says so: then `claimChosenOf` decides.
 */
const lanes = `${time},
alone as materialized (select $8::boolean and exists (select from holdfast.job s where s.place = 1
  and s.queue = any($3::text[]) and s.kind_key = any($5::int[]) and s.visible_at <= (select ms from t)) as waits),
room as materialized (select q.queue, q.room from unnest($3::text[], $4::bigint[]) as q(queue, room)
  where q.room > 0 and not (select waits from alone)
    and not exists (select from holdfast.control c where c.what = 'hold')
    and not exists (select from holdfast.control c where c.what = 'pause' and c.queue = q.queue)),
lane as (select r.queue, r.room, k.kind_key, k.kind, b.band from room r
  cross join unnest($5::int[], $6::text[]) as k(kind_key, kind)
  cross join (values (0::smallint), (1::smallint), (2::smallint), (3::smallint)) as b(band))`

/** Where it takes nothing, there is one row without an id, whose kind says why. */
function answer(kind: string, queue: string): string {
  const why = `case when exists (select from holdfast.claim c where c.token = $1) then 'void'
    when (select waits from alone) then 'alone' end`
  return `${take}
select ${resultOf(`case when k.id is null then ${why} else ${kind} end`, queue, 'nullif(k.spec, $9::text)')}
from t left join taken k on true ${inClaimOrder}`
}

/**
 * One statement over all queues and kinds. First it looks, without locks, how many of the first `limit` jobs come
 * from each lane; then it locks as many in each, and passes over those that another claim has locked. So it
 * locks nothing that it does not take, keeps the order where nobody is in the way, and loses nothing to a rival
 * where somebody is.
 */
const claimMany = `with ${lanes},
ahead as (select l.*, a.visible_at, a.seq,
    row_number() over (partition by l.queue order by l.band, a.visible_at, a.seq) as rank
  from lane l cross join lateral (select j.visible_at, j.seq ${due} limit $7::bigint) a),
share as materialized (select f.queue, f.kind_key, f.kind, f.band, count(*) as n
  from (select * from ahead where rank <= room order by band, visible_at, seq limit $7::bigint) f
  group by f.queue, f.kind_key, f.kind, f.band),
pick as materialized (select p.tid from share l
  cross join lateral (select q.tid from (${locked}) q limit l.n) p),
${answer('k.kind', 'k.queue')}`

/**
 * The same for one queue and one kind, whose lanes are its bands: claim order is one after the other, so nothing
 * has to be looked at first. A lane is read, and its jobs are locked, only as far as the limit goes.
 */
const claimOne = `with ${lanes},
pick as materialized (select p.tid from (select * from lane order by band) l
  cross join lateral (${locked}) p
  limit least($7::bigint, ($4::bigint[])[1])),
${answer('null', 'null::text')}`

type Answer = ClaimedRow | readonly [id: null, why: string | null, ...rest: Value[]]

/** What jobs state is mostly the same from claim to claim: the text that came last is not sent again. */
export function createClaim(database: Database): (params: ClaimParams) => Promise<ClaimReply> {
  let last = ''
  return async (params) => {
    const none = vain(params)
    if (none) return none
    const known = last
    try {
      if (params.only !== undefined)
        return await database.transaction('common', (session) => claimChosenOf(session, params))
      const open = { ...params, queues: params.queues.filter(({ limit }) => limit > 0) }
      const one = oneLane(open)
      const rows = await database.autocommit('common', (session) =>
        session.query<Answer>(one ? claimOne : claimMany, [...paramsOf(open), known]),
      )
      const [id, why] = rows[0] as Answer
      if (id !== null) {
        last = (rows.at(-1) as ClaimedRow)[5] ?? known
        return { kind: 'claimed', jobs: claimedOf(rows as ClaimedRow[], one, known), soloWaiting: false }
      }
      if (why === 'void') return { kind: 'void' }
      if (why === 'alone')
        return await database.transaction('common', (session) => claimChosenOf(session, params))
      return { kind: 'claimed', jobs: [], soloWaiting: false }
    } catch (error) {
      if (isDuplicate(error)) return { kind: 'void' }
      throw error
    }
  }
}

/** The kind and the queue of all that a claim can take, if there is one of each. */
function oneLane({ queues, kinds }: ClaimParams): { readonly kind: string; readonly queue: string } | null {
  const [[queue, ...queuesMore], [kind, ...kindsMore]] = [queues, kinds]
  if (!queue || kind === undefined || queuesMore.length + kindsMore.length > 0) return null
  return { kind, queue: queue.queue }
}

/** By sequence, as chosen; `place` must still be what it was then. */
const claimChosen = `with ${time},
pick as materialized (select j.ctid as tid from holdfast.job j
  where j.seq = any($3::bigint[]) and j.place = $4::smallint and j.visible_at <= (select ms from t)
  order by j.seq for update skip locked),
${take}
select ${resultOf('k.kind', 'k.queue', 'k.spec')} from taken k ${inClaimOrder}`

/**
 * The long way, for while a job on its last eviction is due, and for a claim of one job by its id: look, choose by the rules of the port, lock what was
 * chosen. A rival between the look and the lock makes the batch smaller, and the next poll makes up for it.
 */
async function claimChosenOf(session: Session, params: ClaimParams): Promise<ClaimReply> {
  const there = 'select 1 from holdfast.claim where token = $1'
  if ((await session.query(there, [params.token])).length > 0) return { kind: 'void' }
  const { seqs, solo, soloWaiting } = await choose(session, params)
  if (seqs.length === 0) return { kind: 'claimed', jobs: [], soloWaiting }
  const chosen = [params.token, params.worker, seqs, solo ? 1 : 0]
  const rows = await session.query<ClaimedRow>(claimChosen, chosen)
  return { kind: 'claimed', jobs: claimedOf(rows, null), soloWaiting }
}

function paramsOf({ token, worker, limit, queues, kinds, solo }: ClaimParams): Param[] {
  return [
    token,
    worker,
    queues.map(({ queue }) => queue),
    queues.map(({ limit }) => limit),
    kinds.map(kindKey),
    kinds,
    limit,
    solo !== 'pass',
  ]
}
