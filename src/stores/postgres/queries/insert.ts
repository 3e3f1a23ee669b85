import { beyondSpec } from '../../../engine/jobs/members.ts'
import { sameJson } from '../../../engine/jobs/json.ts'
import type { InsertParams, InsertReply, NewJob } from '../../../engine/ports/store.ts'
import { time } from '../clock.ts'
import type { Database, Param, Session, Value } from '../database.ts'
import { isDuplicate } from '../errors.ts'
import { beyondText } from '../../beyond.ts'
import { labelsText } from '../../labels.ts'
import { firstEpoch, kindKey, statedText } from '../rows.ts'
import { payloadOf, told } from '../wake.ts'

/**
 * All jobs in one statement. What most of a batch states alike is sent once, and each job names its line of it
 * (`stated`): of 10,000 jobs three lists are sent instead of eighteen. Sequences follow the order given, in which
 * the jobs will be claimed, so their rows lie side by side. Bodies go in by id: two producers of the same ids in
 * another order wait for one another, and in no circle.
 */
function adding({
  where,
  onConflict,
  added,
}: {
  readonly where: string
  readonly onConflict: string
  /** The rows of `given g` that have a body now. */
  readonly added: string
}): string {
  return `stated as materialized (select * from unnest($4::text[], $5::text[], $6::int[], $7::smallint[], $8::bigint[],
    $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::bigint[], $17::bigint[])
  with ordinality
  as s(kind, queue, kind_key, band, lease_ttl_ms, bound_ms, enqueued_at, spec, labels, metadata, traceparent, beyond, delay_ms, at_ms,
    n)),
given as materialized (select nextval('holdfast.job_seq') as seq, g.id, g.input, g.line
  from unnest($1::text[], $2::text[], $3::int[]) with ordinality as g(id, input, line, n) ${where} order by g.n),
bodies as (insert into holdfast.body
    (seq, lease_ttl_ms, bound_ms, enqueued_at, created_at, id, spec, labels, metadata, traceparent, beyond, insert_id,
    input)
  select g.seq, s.lease_ttl_ms, s.bound_ms, s.enqueued_at, t.ms, g.id, s.spec, s.labels, s.metadata, s.traceparent, s.beyond,
    $18, g.input
  from given g join stated s on s.n = g.line cross join t order by g.id collate "C", g.seq
  ${onConflict} returning seq),
jobs as (insert into holdfast.job (seq, visible_at, version, updated_at, kind_key, epoch, attempt, failures, evictions,
    band, state, place, queue, kind)
  select g.seq, coalesce(s.at_ms, t.ms + s.delay_ms), 1, t.ms, s.kind_key,
    ${firstEpoch}, 0, 0, 0,
    s.band, 0, case when coalesce(s.at_ms, s.delay_ms) is null then 2 else 0 end, s.queue, s.kind
  from ${added} join stated s on s.n = g.line cross join t order by g.seq),
found as (insert into holdfast.lookup (key, seq)
  select k.key, g.seq from ${added} join stated s on s.n = g.line
  cross join lateral json_array_elements_text(s.labels::json->'keys') as k(key) where s.labels is not null)
select (select count(*) from bodies), (select min(seq) from given), ${told('$19', '(case when exists (select from bodies) then $20::text end)')}`
}

const add = `with ${time},
${adding({ where: '', onConflict: 'on conflict (id) do nothing', added: 'bodies join given g using (seq)' })}`

/**
 * The same where all are new, as most are: it needs no transaction which can be undone, and no row has to be ready to
 * be taken back. An id that is there already fails the statement; whoever repeats a call sends all its ids again, so
 * that the first tells, and nothing at all is done.
 */
const addNew = `with ${time},
there as materialized (select exists (select from holdfast.body b where b.id = ($1::text[])[1]) as first),
${adding({ where: 'where not (select first from there)', onConflict: '', added: 'given g' })}`

/** One job is there or not; several are all there or none, which takes a transaction that can be undone. */
export async function insert(
  database: Database,
  params: InsertParams,
  channel: string | null,
): Promise<InsertReply> {
  if (params.jobs.length === 0) return { kind: 'inserted', jobs: [] }
  if (params.jobs.length === 1) {
    return database.autocommit('common', (session) => insertWithin(session, params, channel, () => {}))
  }
  if (await insertNew(database, params, channel)) return allCreated(params)
  return database.transaction('common', (session, undo) => insertWithin(session, params, channel, undo))
}

/** Answers whether all jobs were new; else nothing was inserted. */
async function insertNew(database: Database, params: InsertParams, channel: string | null): Promise<boolean> {
  const send = (session: Session): Promise<readonly [added: number][]> =>
    session.query(addNew, paramsOf(params, channel))
  try {
    const [row] = await database.autocommit('common', send)
    return row?.[0] === params.jobs.length
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

function allCreated({ jobs }: InsertParams): InsertReply {
  return { kind: 'inserted', jobs: jobs.map(({ spec }) => ({ id: spec.id, created: true })) }
}

/** Calls `undo` if one of the ids is taken by another job. */
export async function insertWithin(
  session: Session,
  params: InsertParams,
  channel: string | null,
  undo: () => void,
): Promise<InsertReply> {
  const { insertId, jobs } = params
  const [row] = await session.query<[added: number, firstSeq: number]>(add, paramsOf(params, channel))
  // A client of the caller's may answer them as text.
  const [added, firstSeq] = (row as [number, number]).map(Number) as [number, number]
  if (added === jobs.length) return allCreated(params)
  const there = await find(session, jobs, { insertId, firstSeq })
  const conflicts = jobs.filter((job) => clashes(there.get(job.spec.id), job)).map(({ spec }) => spec.id)
  if (conflicts.length > 0) {
    undo()
    return { kind: 'conflict', ids: conflicts }
  }
  const created = ({ spec }: NewJob): boolean => there.get(spec.id)?.insertId === insertId
  return { kind: 'inserted', jobs: jobs.map((job) => ({ id: job.spec.id, created: created(job) })) }
}

/** Leaves out what is there already, whatever it is; answers the ids of the others. In a transaction. */
export async function insertAbsent(
  session: Session,
  params: InsertParams,
  channel: string | null,
): Promise<string[]> {
  const { insertId, jobs } = params
  if (jobs.length === 0) return []
  const ids = jobs.map(({ spec }) => spec.id)
  const [row] = await session.query<[added: number, firstSeq: number]>(add, paramsOf(params, channel))
  if (row?.[0] === jobs.length) return ids
  const own = 'select id from holdfast.body where id = any($1::text[]) and insert_id = $2'
  const made = new Set((await session.query<[id: string]>(own, [ids, insertId])).map(([id]) => id))
  return ids.filter((id) => made.has(id))
}

interface Found {
  readonly kind: string
  readonly input: string
  readonly insertId: string
  /** Inserted just now, so that it clashes with nothing. */
  readonly own: boolean
}

/** A statement of its own, so that it sees what was committed while the insert waited for it. */
const byIds = `select b.id, j.kind, b.input, b.insert_id, b.seq
  from holdfast.body b join holdfast.job j on j.seq = b.seq where b.id = any($1::text[])`

async function find(
  session: Session,
  jobs: readonly NewJob[],
  { insertId, firstSeq }: { readonly insertId: string; readonly firstSeq: number },
): Promise<Map<string, Found>> {
  type Row = [id: string, kind: string, input: string, insertId: string, seq: number | string]
  const rows = await session.query<Row>(byIds, [jobs.map(({ spec }) => spec.id)])
  return new Map(
    rows.map(([id, kind, input, by, seq]) => {
      return [id, { kind, input, insertId: by, own: by === insertId && Number(seq) >= firstSeq }]
    }),
  )
}

function clashes(there: Found | undefined, { spec }: NewJob): boolean {
  if (!there || there.own) return false
  return !(there.kind === spec.kind && sameJson(there.input, spec.input))
}

function paramsOf({ insertId, jobs }: InsertParams, channel: string | null): Param[] {
  const lines = createLines()
  const given = jobs.map((job) => lines.of(job))
  return [
    jobs.map(({ spec }) => spec.id),
    jobs.map(({ spec }) => spec.input),
    given,
    ...lines.columns,
    insertId,
    channel,
    payloadOf(jobs.filter(mayBeDue).map(({ spec }) => spec.queue)),
  ]
}

/** What jobs state alike, line by line, as one list a column; the number of a job's line counts from 1. */
function createLines(): { of(job: NewJob): number; readonly columns: Value[][] } {
  const columns: Value[][] = Array.from({ length: 14 }, () => [])
  const known = new Map<string, number>()
  let last: NewJob | null = null
  let line = 0
  return {
    columns,
    of: (job) => {
      if (last && alike(last, job)) return line
      last = job
      const values = lineOf(job)
      const key = JSON.stringify(values)
      line = known.get(key) ?? known.size + 1
      if (line > known.size) {
        known.set(key, line)
        for (const [n, value] of values.entries()) columns[n]?.push(value)
      }
      return line
    },
  }
}

function lineOf(job: NewJob): Value[] {
  const { spec } = job
  return [
    spec.kind,
    spec.queue,
    kindKey(spec.kind),
    spec.band,
    spec.leaseTtlMs,
    spec.timeoutMs + spec.leaseTtlMs,
    spec.enqueuedAtMs,
    statedText(spec),
    labelsText(spec),
    spec.metadata === null ? null : JSON.stringify(spec.metadata),
    spec.traceparent,
    beyondText(spec),
    delayOf(job),
    instantOf(job),
  ]
}

/** An instant that has come already is for the database to say; one hint too many is no harm. */
function mayBeDue(job: NewJob): boolean {
  return delayOf(job) === 0 || instantOf(job) !== null
}

function delayOf({ due }: NewJob): number | null {
  return 'delayMs' in due ? due.delayMs : null
}

function instantOf({ due }: NewJob): number | null {
  return 'atMs' in due ? due.atMs : null
}

/** Spares most jobs of a batch the making of their line; false is never wrong. */
function alike(a: NewJob, b: NewJob): boolean {
  const [x, y] = [a.spec, b.spec]
  return (
    delayOf(a) === delayOf(b) &&
    instantOf(a) === instantOf(b) &&
    x.kind === y.kind &&
    x.queue === y.queue &&
    x.band === y.band &&
    x.inputVersion === y.inputVersion &&
    x.maxAttempts === y.maxAttempts &&
    x.maxEvictions === y.maxEvictions &&
    x.backoffMs === y.backoffMs &&
    x.jitter === y.jitter &&
    x.leaseTtlMs === y.leaseTtlMs &&
    x.timeoutMs === y.timeoutMs &&
    x.keepMs === y.keepMs &&
    x.tenant === y.tenant &&
    x.keys === y.keys &&
    x.lineage === y.lineage &&
    x.metadata === y.metadata &&
    x.traceparent === y.traceparent &&
    x.enqueuedAtMs === y.enqueuedAtMs &&
    beyondSpec(x) === null &&
    beyondSpec(y) === null
  )
}
