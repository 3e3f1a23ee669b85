import type { RenewParams, RenewReply } from '../../engine/ports/store.ts'
import type { Operation } from './statements.ts'

/** Two statements, however many claims: one writes lease rows and nothing else, one reads what runs under them. */
export function renew(operation: Operation, { worker, tokens }: RenewParams): RenewReply {
  renewLeases(operation, worker, tokens)
  const rows = operation
    .query<[id: string, epoch: number, cancel: number]>(running)
    .all(JSON.stringify(tokens), worker)
  return { held: rows.map(([id, epoch, cancel]) => ({ id, epoch, cancel: cancel === 1 })) }
}

const renewed = `update holdfast_lease set expires_at = holdfast_now() + ttl_ms
  where claim in (select c.claim from json_each(?) t join holdfast_claim c on c.token = t.value where c.worker = ?)`

const running = `select b.id, j.epoch, j.cancel_requested_at is not null
  from json_each(?) t cross join holdfast_claim c on c.token = t.value cross join json_each(c.jobs) e
  cross join holdfast_job j on j.seq = e.value join holdfast_body b on b.seq = j.seq
  where c.worker = ? and j.claim = c.claim order by t.key, e.key`

/** A lease that lapsed but was not taken is renewed like any other; one that was taken has no row left. */
export function renewLeases(operation: Operation, worker: string, tokens: readonly string[]): void {
  operation.command(renewed).run(JSON.stringify(tokens), worker)
}
