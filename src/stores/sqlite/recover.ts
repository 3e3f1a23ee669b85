import type { RecoverReply } from '../../engine/ports/store.ts'
import { renewLeases } from './renew.ts'
import { claimedJobs } from './rows.ts'
import type { Operation } from './statements.ts'

const byToken = 'select claim, worker, jobs from holdfast_claim where token = ?'
const addVoid = `insert into holdfast_claim (token, worker, made_at, bound_ms, jobs)
  values (?, null, holdfast_now(), 0, '[]')`

/** Writers come one after another here, so that the claim in flight is either whole or not begun. */
export function recover(
  operation: Operation,
  { token, worker }: { readonly token: string; readonly worker: string },
): RecoverReply {
  const { query, command } = operation
  const header = query<[claim: number, worker: string | null, jobs: string]>(byToken).get(token)
  if (!header) {
    command(addVoid).run(token)
    return { kind: 'voided' }
  }
  if (header[1] === null) return { kind: 'voided' }
  renewLeases(operation, worker, [token])
  return { kind: 'recovered', jobs: claimedJobs(operation, header[2], header[0], []) }
}
