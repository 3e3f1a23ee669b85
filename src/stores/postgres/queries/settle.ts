import type { Outcome } from '../../../engine/jobs/record.ts'
import type { SettleParams, SettleReply, Settlement } from '../../../engine/ports/store.ts'
import { time } from '../clock.ts'
import type { Param, Session } from '../database.ts'
import { few } from '../plan.ts'
import { noted, placeOf, settleKinds, settleOf, stateOf } from '../rows.ts'
import { toldOf } from '../wake.ts'

/** Where a job of `j` goes that ends as `g` says: a failure without a delay is one for good. */
const next = `(case when g.kind = 0 then 2 when g.kind = 3 then 4
  when g.kind = 1 and (g.delay_ms is null or j.failures + 1 >= (g.spec::json->>'maxAttempts')::bigint) then 3
  when j.cancel_requested_at is not null then 4 else 0 end)`

/**
 * `settled` of the transitions, for the whole group in one statement. Rows are found by key, one by one, and so
 * locked in the order of their sequence, as a reclaim locks them. The update is heap-only: no index has what it
 * changes, unless the job goes back to the queue. It waits for whoever is writing the row, and then sees what that
 * has written.
 */
function end(given: string, own: string): string {
  return `with ${time},
${given},
ended as (update holdfast.job j set state = ${next}, claim = null, version = j.version + 1, updated_at = t.ms,
    settle_epoch = j.epoch, settle_kind = g.kind,
    failures = case g.kind when 1 then j.failures + 1 else j.failures end,
    finished_at = case ${next} when 0 then null else t.ms end,
    visible_at = case ${next} when 0 then t.ms + g.delay_ms else j.visible_at end,
    place = case ${next} when 0 then ${placeOf('j.evictions', 'g.spec')} end,
    result = case g.kind when 0 then g.said else j.result end,
    error = case g.kind when 0 then null when 1 then g.said else j.error end,
    dead_at = case ${next} when 3 then t.ms end,
    events = case g.kind when 1 then ${noted('failed', 'g.said')} when 2 then ${noted('released')} else j.events end
  from given g, t where j.seq = g.seq and j.state = 1 and j.epoch = g.epoch ${own} returning g.n, j.state, j.queue, g.delay_ms)
select array_agg(n)::text, array_agg(state)::text, ${toldOf('$6', 'ended where state = 0 and delay_ms <= 0')} from ended`
}

const lists = '$2::bigint[], $3::smallint[], $4::text[], $5::bigint[]'
const columns = 'epoch, kind, said, delay_ms'

const endById = end(
  `given as materialized (select g.*, b.seq, b.spec
  from unnest($1::text[], ${lists}, $7::bigint[]) with ordinality as g(id, ${columns}, meant, n)
  cross join lateral (select b.seq, b.spec from holdfast.body b
    where b.id = g.id and b.seq = coalesce(g.meant, b.seq) offset 0) b
  where ${few('g.n')} order by b.seq, g.n)`,
  '',
)

/** The bodies, of which there are none to look at when all have succeeded, are half of what finding a row costs. */
const endClaimed = end(
  `claims as materialized (select array_agg(c.claim) as all from unnest($7::text[]) as h(token)
  cross join lateral (select c.claim from holdfast.claim c where c.token = h.token offset 0) c),
given as materialized (select g.*,
    case when g.kind <> 0 then (select b.spec from holdfast.body b where b.seq = g.seq) end as spec
  from unnest($1::bigint[], ${lists}) with ordinality as g(seq, ${columns}, n) where ${few('g.n')} order by g.seq, g.n)`,
  `and j.claim = any((select "all" from claims)::bigint[])`,
)

type Result = SettleReply['results'][number]
type Results = (Result | undefined)[]

/**
 * A job that is there twice, as by the repeat of one attempt's settle beside the settle of its next attempt, is
 * settled in that order: each of its settlements has a round of its own.
 */
export async function settle(
  session: Session,
  { settlements }: SettleParams,
  channel: string | null,
): Promise<SettleReply> {
  const places = placesOf(settlements)
  const results: Results = places
    ? await apply(session, endClaimed, [places.seqs, ...paramsOf(settlements), channel, places.tokens])
    : []
  if (settlements.every((_, n) => results[n])) return { results: results as Result[] }
  const left = [...settlements.keys()].filter((n) => !results[n])
  for (const round of roundsOf(settlements, left)) {
    const of = round.map((n) => settlements[n] as Settlement)
    const answers = await settleById(session, of, channel)
    for (const [k, n] of round.entries()) results[n] = answers[k]
  }
  return { results: results as Result[] }
}

/** Null unless each says where its job is, and none is there twice. */
function placesOf(settlements: readonly Settlement[]): Places | null {
  const [seqs, tokens] = [new Set<number>(), new Set<string>()]
  for (const { claimed } of settlements) {
    if (!claimed || claimed.token === null) return null
    seqs.add(claimed.seq)
    tokens.add(claimed.token)
  }
  return seqs.size === settlements.length ? { seqs: [...seqs], tokens: [...tokens] } : null
}

interface Places {
  readonly seqs: readonly number[]
  /** Of all their claims. */
  readonly tokens: readonly string[]
}

/** Indices of settlements, no job twice in a round; nearly always it is one round. */
function roundsOf(settlements: readonly Settlement[], left: readonly number[]): number[][] {
  const seen = new Map<string, number>()
  const rounds: number[][] = []
  for (const n of left) {
    const { id } = settlements[n] as Settlement
    const times = seen.get(id) ?? 0
    seen.set(id, times + 1)
    ;(rounds[times] ??= []).push(n)
  }
  return rounds
}

async function settleById(
  session: Session,
  settlements: readonly Settlement[],
  channel: string | null,
): Promise<Result[]> {
  const ids = settlements.map(({ id }) => id)
  const meant = settlements.map(({ claimed }) => claimed?.seq ?? null)
  const results = await apply(session, endById, [ids, ...paramsOf(settlements), channel, meant])
  const refused = settlements.filter((_, n) => !results[n])
  if (refused.length === 0) return results as Result[]
  const why = await reasons(session, refused)
  return settlements.map((settlement, n) => results[n] ?? reasonOf(settlement, why))
}

/** Answers the results of those that it applied to, each in its place. */
async function apply(session: Session, statement: string, params: readonly Param[]): Promise<Results> {
  type Row = [given: string | null, states: string | null]
  const [row] = await session.query<Row>(statement, params)
  const [given, states] = (row as Row).map(numbersOf) as [number[], number[]]
  const results: Results = []
  for (let k = 0; k < given.length; k++) {
    results[(given[k] as number) - 1] = { settled: 'applied', state: stateOf(states[k] as number) }
  }
  return results
}

/** Of a list of numbers as text, which comes in one value instead of a row each; null is the empty one. */
function numbersOf(list: string | null): number[] {
  return list === null ? [] : (JSON.parse(`[${list.slice(1, -1)}]`) as number[])
}

interface Stands {
  readonly seq: number
  readonly state: number
  readonly lastSettle: ReturnType<typeof settleOf>
}

const stands = `select b.id, b.seq, j.state, j.settle_epoch, j.settle_kind
  from holdfast.body b join holdfast.job j on j.seq = b.seq where b.id = any($1::text[])`

/** A statement of its own: the first may have waited for the very settle that a repeat is looking for. */
async function reasons(session: Session, refused: readonly Settlement[]): Promise<Map<string, Stands>> {
  type Row = [id: string, seq: number, state: number, settleEpoch: number | null, settleKind: number | null]
  const rows = await session.query<Row>(stands, [refused.map(({ id }) => id)])
  return new Map(
    rows.map(([id, seq, state, epoch, kind]) => [id, { seq, state, lastSettle: settleOf(epoch, kind) }]),
  )
}

/** `refusal` of the transitions. */
function reasonOf(settlement: Settlement, why: ReadonlyMap<string, Stands>): Result {
  const { id, epoch, outcome, repeated, claimed } = settlement
  const job = why.get(id)
  if (!job || (claimed && claimed.seq !== job.seq)) return { settled: 'lost', state: null }
  const own = job.lastSettle?.epoch === epoch && job.lastSettle.kind === outcome.kind
  const state = stateOf(job.state)
  return { settled: repeated ? (own ? 'applied' : 'superseded') : 'lost', state }
}

function paramsOf(settlements: readonly Settlement[]): Param[] {
  return [
    settlements.map(({ epoch }) => epoch),
    settlements.map(({ outcome }) => settleKinds.indexOf(outcome.kind)),
    settlements.map(({ outcome }) => saidOf(outcome)),
    settlements.map(({ outcome }) => delayOf(outcome)),
  ]
}

function saidOf(outcome: Outcome): string | null {
  if (outcome.kind === 'succeeded') return outcome.result
  return outcome.kind === 'failed' ? JSON.stringify(outcome.error) : null
}

function delayOf(outcome: Outcome): number | null {
  if (outcome.kind === 'failed') return outcome.permanent ? null : outcome.delayMs
  return outcome.kind === 'released' ? outcome.delayMs : null
}
