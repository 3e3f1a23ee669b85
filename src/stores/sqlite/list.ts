import type { ListParams, ListReply } from '../../engine/ports/queries.ts'
import { type SmallSet, fewMax, keysOf, smallSetsOf } from '../listing.ts'
import { pageLimit, pageOf, seqBefore } from '../paging.ts'
import { failedState, queuedState, recordColumns, recordsOf, runningState, states } from './rows.ts'
import type { Operation, Value } from './statements.ts'

/**
 * One page, newest first. The text holds only the filters that are used, and says what leads: with keys the rows of
 * the rarest in `holdfast_lookup`; for what waits, runs or is dead the sequences of these, if they are few; else all
 * jobs backwards, which is dear only where hits are rare. First it is found which jobs they are, so that nothing but
 * sequences is ever sorted.
 */
export function list(operation: Operation, params: ListParams): ListReply {
  const limit = pageLimit(params.limit)
  const values: Value[] = []
  const bind: Bind = (value) => {
    values.push(value)
    return '?'
  }
  const page = pageSql(params, leading(operation, params), bind)
  const sql = `select ${params.payloads ? columns : fewColumns}
    from (${page} limit ?) p cross join holdfast_job j on j.seq = p.seq
    cross join holdfast_body b on b.seq = j.seq left join holdfast_claim c on c.claim = j.claim`
  const rows = operation.query<readonly unknown[]>(sql).all(...values, limit + 1)
  // They come in that order; SQLite would copy the inputs to make sure of it.
  rows.sort((a, b) => compared(seqOf(b), seqOf(a)))
  const { rows: kept, next } = pageOf(rows, limit, seqOf)
  return { jobs: recordsOf(kept), next }
}

/** As text, since a number is exact only up to 2^53. */
const columns = `${recordColumns}, cast(j.seq as text)`
/** A large value lies on pages of its own, which are not read unless it is named. */
const fewColumns = columns.replace('b.input', `''`).replace('j.result', 'null')

function seqOf(row: readonly unknown[]): string {
  return String(row.at(-1))
}

function compared(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1)
}

type Bind = (value: Value) => string

/** `l` leads; jobs and bodies are looked up where a filter is about them. */
function pageSql(params: ListParams, sets: readonly SmallSet[], bind: Bind): string {
  const keys = keysOf(params)
  const lead = keys.length > 0 ? 'lookup' : sets.length > 0 ? 'set' : asksOfBody(params) ? 'body' : 'job'
  const from = lead === 'set' ? `(${union(sets)})` : `holdfast_${lead}`
  const ofKeys = lead === 'lookup' ? underAll(keys, bind) : []
  const before = params.cursor === null ? [] : [`l.seq < cast(${bind(seqBefore(params.cursor))} as integer)`]
  const ofJob = jobFilters(params, sets, lead === 'job' ? 'l' : 'j', bind)
  const ofBody = bodyFilters(params, lead === 'body' ? 'l' : 'b', bind)
  const where = [...ofKeys, ...before, ...ofJob, ...ofBody]
  return [
    `select l.seq as seq from ${from} l`,
    ofJob.length > 0 && lead !== 'job' ? 'cross join holdfast_job j on j.seq = l.seq' : '',
    ofBody.length > 0 && lead !== 'body' ? 'cross join holdfast_body b on b.seq = l.seq' : '',
    where.length > 0 ? `where ${where.join(' and ')}` : '',
    'order by l.seq desc',
  ].join(' ')
}

function underAll(keys: readonly string[], bind: Bind): string[] {
  if (keys.length === 1) return [`l.key = ${bind(keys[0] as string)}`]
  const under = (key: string): string =>
    `exists (select 1 from holdfast_lookup k where k.key = ${bind(key)} and k.seq = l.seq)`
  return [`l.key = ${rarest(keys, bind)}`, ...keys.map(under)]
}

/** Those that `sets` do not see to. */
function jobFilters(params: ListParams, sets: readonly SmallSet[], row: string, bind: Bind): string[] {
  const { states: of, kinds, queues, dead } = params
  const among = (column: string, values: readonly Value[]): string =>
    `${row}.${column} in (select value from json_each(${bind(JSON.stringify(values))}))`
  const deadLead = sets.includes('dead')
  return [
    ...(of && (sets.length === 0 || deadLead)
      ? [
          among(
            'state',
            of.map((state) => states.indexOf(state)),
          ),
        ]
      : []),
    ...(kinds ? [among('kind', kinds)] : []),
    ...(queues ? [among('queue', queues)] : []),
    ...(dead === undefined || deadLead
      ? []
      : [`(+${row}.dead_at is not null and ${row}.state = ${failedState}) is ${dead}`]),
  ]
}

function asksOfBody({ tenant, createdFromMs, createdToMs }: ListParams): boolean {
  return tenant === null || createdFromMs !== undefined || createdToMs !== undefined
}

function bodyFilters({ tenant, createdFromMs, createdToMs }: ListParams, row: string, bind: Bind): string[] {
  return [
    ...(tenant === null
      ? [`(${row}.labels is null or json_extract(${row}.labels, '$.tenant') is null)`]
      : []),
    ...(createdFromMs === undefined ? [] : [`${row}.created_at >= ${bind(createdFromMs)}`]),
    ...(createdToMs === undefined ? [] : [`${row}.created_at < ${bind(createdToMs)}`]),
  ]
}

/** Of several keys the one under which there is least; what has more than this is all the same. */
function rarest(keys: readonly string[], bind: Bind): string {
  return `(select r.value from json_each(${bind(JSON.stringify(keys))}) r
    order by (select count(*) from (select 1 from holdfast_lookup k where k.key = r.value limit 1000)), r.key limit 1)`
}

/** Sequences of the jobs of each set. */
const smallSets: Readonly<Record<SmallSet, string>> = {
  waiting: ['ready', 'solo', 'undispatched']
    .map((index, place) => {
      return `select seq from holdfast_job indexed by holdfast_job_${index} where state = ${queuedState} and solo = ${place}`
    })
    .join(' union all '),
  running: `select r.seq from holdfast_claim c cross join json_each(c.jobs) u cross join holdfast_job r on r.seq = u.value
    where c.worker is not null and r.claim = c.claim and r.state = ${runningState}`,
  dead: `select seq from holdfast_job indexed by holdfast_job_dead where dead_at is not null and state = ${failedState}`,
}

function union(sets: readonly SmallSet[]): string {
  return sets.map((set) => smallSets[set]).join(' union all ')
}

/** The sets that lead: those that are few. */
function leading({ query }: Operation, params: ListParams): readonly SmallSet[] {
  const sets = keysOf(params).length > 0 ? [] : smallSetsOf(params)
  const growing = sets.filter((set) => set !== 'running')
  if (growing.length === 0) return sets
  const few = `select count(*) from (select 1 from (${union(growing)}) limit ${fewMax + 1})`
  const [count] = query<[count: number]>(few).get() as [number]
  return count <= fewMax ? sets : []
}
