import { tenantKey } from '../../engine/jobs/keys.ts'
import type { ListParams, ListReply } from '../../engine/ports/queries.ts'
import { pageLimit, pageOf, seqBefore } from '../paging.ts'
import { recordColumns, recordsOf, states } from './rows.ts'
import type { Operation, Value } from './statements.ts'

/**
 * One page, newest first. The text holds only the filters that are used. With keys it follows the rows of one key in
 * `holdfast_lookup`, each looked up under the other keys, else all jobs backwards: so nothing is sorted, and what is
 * read is what lies between two hits.
 */
export function list(operation: Operation, params: ListParams): ListReply {
  const limit = pageLimit(params.limit)
  const values: Value[] = []
  const sql = statementOf(params, (value) => {
    values.push(value)
    return '?'
  })
  const rows = operation.query<readonly unknown[]>(sql).all(...values, limit + 1)
  const page = pageOf(rows, limit, (row) => String(row.at(-1)))
  return { jobs: recordsOf(page.rows), next: page.next }
}

/** As text, since a number is exact only up to 2^53. */
const columns = `${recordColumns}, cast(j.seq as text)`
/** A large value lies on pages of its own, which are not read unless it is named. */
const fewColumns = columns.replace('b.input', `''`).replace('j.result', 'null')

type Bind = (value: Value) => string

function statementOf(params: ListParams, bind: Bind): string {
  const { cursor, tenant, keys = [] } = params
  const [first, ...others] = typeof tenant === 'string' ? [...keys, tenantKey(tenant)] : keys
  const lead = first === undefined ? 'j' : 'l'
  const where = [
    ...(first === undefined ? [] : [`l.key = ${bind(first)}`]),
    ...(cursor === null ? [] : [`${lead}.seq < cast(${bind(seqBefore(cursor))} as integer)`]),
    ...others.map(
      (key) => `exists (select 1 from holdfast_lookup k where k.key = ${bind(key)} and k.seq = l.seq)`,
    ),
    ...filters(params, bind),
  ]
  const from =
    first === undefined ? 'holdfast_job j' : 'holdfast_lookup l cross join holdfast_job j on j.seq = l.seq'
  return `select ${params.payloads ? columns : fewColumns}
    from ${from} cross join holdfast_body b on b.seq = j.seq left join holdfast_claim c on c.claim = j.claim
    ${where.length === 0 ? '' : `where ${where.join(' and ')}`} order by ${lead}.seq desc limit ?`
}

function filters(params: ListParams, bind: Bind): string[] {
  const { states: of, kinds, queues, tenant, createdFromMs, createdToMs, dead } = params
  const among = (column: string, values: readonly Value[]): string =>
    `${column} in (select value from json_each(${bind(JSON.stringify(values))}))`
  return [
    ...(of
      ? [
          among(
            'j.state',
            of.map((state) => states.indexOf(state)),
          ),
        ]
      : []),
    ...(kinds ? [among('j.kind', kinds)] : []),
    ...(queues ? [among('j.queue', queues)] : []),
    // By the plus sign it drives nothing: its index is in another order.
    ...(dead === undefined ? [] : [`+j.dead_at is ${dead ? 'not ' : ''}null`]),
    ...(tenant === null ? [`(b.labels is null or json_extract(b.labels, '$.tenant') is null)`] : []),
    ...(createdFromMs === undefined ? [] : [`b.created_at >= ${bind(createdFromMs)}`]),
    ...(createdToMs === undefined ? [] : [`b.created_at < ${bind(createdToMs)}`]),
  ]
}
