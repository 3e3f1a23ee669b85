import { tenantKey } from '../../../engine/jobs/keys.ts'
import type { ListParams, ListReply } from '../../../engine/ports/queries.ts'
import { pageLimit, pageOf, seqBefore } from '../../paging.ts'
import type { Param, Session, Value } from '../database.ts'
import { recordColumns, recordsOf, stateCode } from '../rows.ts'

/**
 * One page, newest first. The text holds only the filters that are used, and says what drives it, since it is planned
 * for any parameters: with keys the rows of one key in `lookup`, each looked up under the other keys, else all jobs
 * backwards. So what is read is what lies between two hits. Of the page alone the bodies and claims are read.
 */
export async function list(session: Session, params: ListParams): Promise<ListReply> {
  const limit = pageLimit(params.limit)
  const { sql, values } = statementOf(params, limit)
  const page = pageOf(await session.query(sql, values), limit, (row) => String(row.at(-1)))
  return { jobs: recordsOf(page.rows), next: page.next }
}

const columns = `${recordColumns}, j.seq::text`
/** What is stored apart from its row, because it is large, is not read unless it is named. */
const fewColumns = columns.replace('b.input', `''`).replace('j.result', 'null')

function statementOf(params: ListParams, limit: number): { readonly sql: string; readonly values: Param[] } {
  const values: Param[] = []
  const bind = (value: Value | readonly Value[]): string => `$${values.push(value)}`
  const page = pageSql(params, bind)
  const sql = `select ${params.payloads ? columns : fewColumns}
    from (${page} limit ${bind(limit + 1)}::bigint) j
    cross join lateral (select b.* from holdfast.body b where b.seq = j.seq offset 0) b
    left join lateral (select c.token, c.made_at from holdfast.claim c where c.claim = j.claim offset 0) c on true
    order by j.seq desc`
  return { sql, values }
}

type Bind = (value: Value | readonly Value[]) => string

function pageSql(params: ListParams, bind: Bind): string {
  const { cursor, tenant, keys = [] } = params
  const [first, ...others] = typeof tenant === 'string' ? [...keys, tenantKey(tenant)] : keys
  const lead = first === undefined ? 'j' : 'l'
  const where = [
    ...(first === undefined ? [] : [`l.key = ${bind(first)}`]),
    ...(cursor === null ? [] : [`${lead}.seq < ${bind(seqBefore(cursor))}::bigint`]),
    ...others.map(
      (key) => `exists (select from holdfast.lookup k where k.key = ${bind(key)} and k.seq = l.seq offset 0)`,
    ),
    ...ofJob(params, bind),
  ]
  const body = ofBody(params, bind)
  const from = [
    first === undefined
      ? 'holdfast.job j'
      : 'holdfast.lookup l cross join lateral (select j.* from holdfast.job j where j.seq = l.seq offset 0) j',
    ...(body.length === 0
      ? []
      : [
          `cross join lateral (select from holdfast.body b where ${['b.seq = j.seq', ...body].join(' and ')} offset 0) b`,
        ]),
    ...(where.length === 0 ? [] : [`where ${where.join(' and ')}`]),
  ]
  return `select j.* from ${from.join(' ')} order by ${lead}.seq desc`
}

function ofJob({ states, kinds, queues, dead }: ListParams, bind: Bind): string[] {
  return [
    ...(states ? [`j.state = any(${bind(states.map(stateCode))}::smallint[])`] : []),
    ...(kinds ? [`j.kind = any(${bind(kinds)}::text[])`] : []),
    ...(queues ? [`j.queue = any(${bind(queues)}::text[])`] : []),
    ...(dead === undefined ? [] : [`j.dead_at is ${dead ? 'not ' : ''}null`]),
  ]
}

function ofBody({ tenant, createdFromMs, createdToMs }: ListParams, bind: Bind): string[] {
  return [
    // As JSON, so that no text has to be unescaped.
    ...(tenant === null ? [`(b.labels is null or (b.labels::json->'tenant')::text = 'null')`] : []),
    ...(createdFromMs === undefined ? [] : [`b.created_at >= ${bind(createdFromMs)}::bigint`]),
    ...(createdToMs === undefined ? [] : [`b.created_at < ${bind(createdToMs)}::bigint`]),
  ]
}
