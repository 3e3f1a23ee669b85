import type { Fenced, JobEpoch } from '../../engine/ports/store.ts'
import { runningState } from './rows.ts'
import type { Operation } from './statements.ts'

/** The fence and the write are one statement; the job's own row is only read. */
const keep = `insert into holdfast_checkpoint (seq, key, value)
  select j.seq, ?, ? from holdfast_body b join holdfast_job j on j.seq = b.seq
  where b.id = ? and j.state = ${runningState} and j.epoch = ? and j.seq = coalesce(?, j.seq)
  on conflict (seq, key) do update set value = excluded.value`

export function checkpoint(
  { command }: Operation,
  { id, epoch, seq, key, value }: JobEpoch & { readonly key: string; readonly value: string },
): Fenced {
  return { applied: command(keep).run(key, value, id, epoch, seq ?? null).changes === 1 }
}

const kept = `select key, value from holdfast_checkpoint
  where seq = (select seq from holdfast_body where id = ?) order by key`

export function checkpoints(
  { query }: Operation,
  { id }: { readonly id: string },
): { readonly key: string; readonly value: string }[] {
  return query<[key: string, value: string]>(kept)
    .all(id)
    .map(([key, value]) => ({ key, value }))
}
