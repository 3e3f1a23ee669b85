import type { ListParams, ListReply } from '../../../engine/ports/queries.ts'
import { type SmallSet, fewMax, keysOf, smallSetsOf } from '../../listing.ts'
import { pageLimit, pageOf, seqBefore } from '../../paging.ts'
import type { Param, Session, Value } from '../database.ts'
import { recordColumns, recordsOf, stateCode } from '../rows.ts'

/**
 * One page, newest first. The text holds only the filters that are used, and says what leads, since it is planned for
 * any parameters: with keys the rows of the rarest in `lookup`; for what waits, runs or is dead the sequences of
 * these, if they are few; else all jobs backwards, which is dear only where hits are rare. Bodies and claims are read
 * of the page alone.
 */
export async function list(session: Session, params: ListParams): Promise<ListReply> {
  const limit = pageLimit(params.limit)
  const { sql, values } = statementOf(params, limit, await leading(session, params))
  const page = pageOf(await session.query(sql, values), limit, (row) => String(row.at(-1)))
  return { jobs: recordsOf(page.rows), next: page.next }
}

const columns = `${recordColumns}, j.seq::text`
/** What is stored apart from its row, because it is large, is not read unless it is named. */
const fewColumns = columns.replace('b.input', `''`).replace('j.result', 'null')

type Bind = (value: Value | readonly Value[]) => string

function statementOf(
  params: ListParams,
  limit: number,
  sets: readonly SmallSet[],
): { readonly sql: string; readonly values: Param[] } {
  const values: Param[] = []
  const bind: Bind = (value) => `$${values.push(value)}`
  const page = pageSql(params, sets, bind)
  const sql = `select ${params.payloads ? columns : fewColumns}
    from (${page} limit ${bind(limit + 1)}::bigint) j
    cross join lateral (select b.* from holdfast.body b where b.seq = j.seq offset 0) b
    left join lateral (select c.token, c.made_at from holdfast.claim c where c.claim = j.claim offset 0) c on true
    order by j.at desc`
  return { sql, values }
}

/** Of `offset 0`: what is looked up row by row must not become a join in another order. */
const theirJobs = 'cross join lateral (select j.* from holdfast.job j where j.seq = l.seq offset 0) j'

function pageSql(params: ListParams, sets: readonly SmallSet[], bind: Bind): string {
  const keys = keysOf(params).map((key) => bind(key))
  const body = ofBody(params)
  const before = (row: string): string[] =>
    params.cursor === null ? [] : [`${row}.seq < ${bind(seqBefore(params.cursor))}::bigint`]
  if (keys.length > 0) {
    const [lead, ...others] = keys.length === 1 ? keys : [rarest(keys), ...keys]
    const all = others.map((key) => `exists (${under(key)} and k.seq = l.seq offset 0)`)
    const where = [`l.key = ${lead}`, ...before('l'), ...all, ...ofJob(params, bind)]
    return pageFrom(`holdfast.lookup l ${theirJobs} ${theirBodies(body, bind)}`, where, 'l')
  }
  if (sets.length > 0) {
    const seqs = `select s.seq from (${union(sets)}) s ${whereAll(before('s'))} order by s.seq desc offset 0`
    return pageFrom(`(${seqs}) l ${theirJobs} ${theirBodies(body, bind)}`, ofJob(params, bind), 'l')
  }
  if (body.length === 0) return pageFrom('holdfast.job j', [...before('j'), ...ofJob(params, bind)], 'j')
  const where = [...before('l'), ...body.map((of) => of('l', bind)), ...ofJob(params, bind)]
  return pageFrom(`holdfast.body l ${theirJobs}`, where, 'l')
}

function pageFrom(from: string, where: readonly string[], lead: string): string {
  return `select ${lead}.seq as at, j.* from ${from} ${whereAll(where)} order by ${lead}.seq desc`
}

function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
}

function ofJob({ states, kinds, queues, dead }: ListParams, bind: Bind): string[] {
  return [
    ...(states ? [`j.state = any(${bind(states.map(stateCode))}::smallint[])`] : []),
    ...(kinds ? [`j.kind = any(${bind(kinds)}::text[])`] : []),
    ...(queues ? [`j.queue = any(${bind(queues)}::text[])`] : []),
    ...(dead === undefined
      ? []
      : [dead ? 'j.dead_at is not null and j.state = 3' : '(j.dead_at is null or j.state <> 3)']),
  ]
}

type OfBody = (row: string, bind: Bind) => string

function ofBody({ tenant, createdFromMs, createdToMs }: ListParams): OfBody[] {
  return [
    // As JSON, so that no text has to be unescaped.
    ...(tenant === null
      ? [(row: string) => `(${row}.labels is null or (${row}.labels::json->'tenant')::text = 'null')`]
      : []),
    ...(createdFromMs === undefined
      ? []
      : [(row: string, bind: Bind) => `${row}.created_at >= ${bind(createdFromMs)}::bigint`]),
    ...(createdToMs === undefined
      ? []
      : [(row: string, bind: Bind) => `${row}.created_at < ${bind(createdToMs)}::bigint`]),
  ]
}

function theirBodies(conditions: readonly OfBody[], bind: Bind): string {
  if (conditions.length === 0) return ''
  const where = ['b.seq = l.seq', ...conditions.map((of) => of('b', bind))].join(' and ')
  return `cross join lateral (select from holdfast.body b where ${where} offset 0) b`
}

const under = (key: string): string => `select from holdfast.lookup k where k.key = ${key}`

/** Of several keys the one under which there is least; what has more than this is all the same. */
const rarest = (
  keys: readonly string[],
): string => `(select r.key from unnest(array[${keys.join(', ')}]::text[])
  with ordinality as r(key, n) cross join lateral (select count(*) as jobs from (${under('r.key')} limit 1000) k) k
  order by k.jobs, r.n limit 1)`

/** Sequences of the jobs of each set, and . */
const smallSets: Readonly<Record<SmallSet, string>> = {
  waiting: [0, 1, 2]
    .map((place) => `select j.seq from holdfast.job j where j.place = ${place}`)
    .join(' union all '),
  running: `select u.seq from holdfast.claim c cross join lateral unnest(c.jobs) as u(seq)
    cross join lateral (select from holdfast.job j where j.seq = u.seq and j.claim = c.claim and j.state = 1 offset 0) j
    where c.worker is not null`,
  dead: 'select j.seq from holdfast.job j where j.dead_at is not null and j.state = 3',
}

function union(sets: readonly SmallSet[]): string {
  return sets.map((set) => smallSets[set]).join(' union all ')
}

/** The sets that lead. A statement of its own asks how many they are: it decides how the page is found, not what. */
async function leading(session: Session, params: ListParams): Promise<readonly SmallSet[]> {
  const sets = keysOf(params).length > 0 ? [] : smallSetsOf(params)
  const growing = sets.filter((set) => set !== 'running')
  if (growing.length === 0) return sets
  const few = `select count(*) from (select from (${union(growing)}) s limit ${fewMax + 1}) s`
  const [row] = await session.query<[count: number]>(few)
  return row !== undefined && row[0] <= fewMax ? sets : []
}
