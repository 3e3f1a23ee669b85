import type { ClaimParams, ClaimReply } from '../../engine/ports/store.ts'
import { choose } from './due.ts'
import { claimedJobs, runningState } from './rows.ts'
import type { Operation } from './statements.ts'

/** The answer to a claim that asks for nothing: known without asking the database. */
export function vain({ limit, queues, kinds }: ClaimParams): ClaimReply | null {
  const wants = limit > 0 && kinds.length > 0 && queues.some(({ limit }) => limit > 0)
  return wants ? null : { kind: 'claimed', jobs: [], soloWaiting: false }
}

const nextClaim = 'select coalesce(max(claim), 0) + 1 from holdfast_claim'
const addClaim = `insert into holdfast_claim (claim, token, worker, made_at, bound_ms, jobs)
  values (?, ?, ?, holdfast_now(), ?, ?)`
const addLease = 'insert into holdfast_lease (claim, ttl_ms, expires_at) values (?, ?, holdfast_now() + ?)'

/** The narrow rows alone, all in one statement: `claimed` of the transitions, said in SQL. */
const start = `update holdfast_job set state = ${runningState}, epoch = epoch + 1, attempt = attempt + 1,
  version = version + 1, visible_at = null, claim = ?, updated_at = (select holdfast_now()), progress = null
  where seq in (select value from json_each(?))`

export function claim(operation: Operation, params: ClaimParams): ClaimReply {
  const { token, worker } = params
  const { query, command } = operation
  if (query('select 1 from holdfast_claim where token = ?').get(token)) return { kind: 'void' }
  const { taken, soloWaiting } = choose(operation, params)
  if (taken.length === 0) return { kind: 'claimed', jobs: [], soloWaiting }
  const list = JSON.stringify(taken.map(({ seq }) => seq))
  const waitedMs = taken.map(({ visibleAtMs }) => operation.nowMs - visibleAtMs)
  const [header] = query<[number]>(nextClaim).get() as [number]
  command(start).run(header, list)
  const jobs = claimedJobs(operation, list, header, waitedMs)
  let boundMs = Number.MAX_SAFE_INTEGER
  const ttls = new Set<number>()
  for (const { spec } of jobs) {
    ttls.add(spec.leaseTtlMs)
    boundMs = Math.min(boundMs, spec.timeoutMs + spec.leaseTtlMs)
  }
  command(addClaim).run(header, token, worker, boundMs, list)
  for (const ttlMs of ttls) command(addLease).run(header, ttlMs, ttlMs)
  return { kind: 'claimed', jobs, soloWaiting }
}
