import type { Fenced, JobEpoch } from '../../../engine/ports/store.ts'
import type { Session } from '../database.ts'

/**
 * The fence is a shared lock on the job, held until the write has committed: whoever takes the job away waits for
 * it, so that nothing of a superseded attempt lands later. The job's own row is not written.
 */
const keep = `with fence as materialized (select j.seq from holdfast.job j
    where j.seq = (select b.seq from holdfast.body b where b.id = $1 and b.seq = coalesce($5::bigint, b.seq))
      and j.state = 1 and j.epoch = $2::bigint for share)
  insert into holdfast.checkpoint (seq, key, value) select seq, $3, $4 from fence
  on conflict (seq, key) do update set value = excluded.value returning 1`

export async function checkpoint(
  session: Session,
  { id, epoch, seq, key, value }: JobEpoch & { readonly key: string; readonly value: string },
): Promise<Fenced> {
  return { applied: (await session.query(keep, [id, epoch, key, value, seq ?? null])).length === 1 }
}

const kept = `select key, value from holdfast.checkpoint
  where seq = (select seq from holdfast.body where id = $1) order by key`

export async function checkpoints(
  session: Session,
  { id }: { readonly id: string },
): Promise<{ readonly key: string; readonly value: string }[]> {
  const rows = await session.query<[key: string, value: string]>(kept, [id])
  return rows.map(([key, value]) => ({ key, value }))
}
