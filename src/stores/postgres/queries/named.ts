import type { NamedLeaseParams } from '../../../engine/ports/store.ts'
import { nowMs } from '../clock.ts'
import type { Session } from '../database.ts'

const take = `insert into holdfast.named (key, owner, expires_at) values ($1, $2, ${nowMs} + $3::bigint)
  on conflict (key) do update set owner = excluded.owner, expires_at = excluded.expires_at
  where ${nowMs} >= named.expires_at returning 1`

export async function acquire(
  session: Session,
  { key, owner, ttlMs }: NamedLeaseParams,
): Promise<{ readonly acquired: boolean }> {
  return { acquired: (await session.query(take, [key, owner, ttlMs])).length === 1 }
}

const extend = `update holdfast.named set expires_at = ${nowMs} + $3::bigint
  where key = $1 and owner = $2 and ${nowMs} < expires_at returning 1`

export async function renew(
  session: Session,
  { key, owner, ttlMs }: NamedLeaseParams,
): Promise<{ readonly held: boolean }> {
  return { held: (await session.query(extend, [key, owner, ttlMs])).length === 1 }
}

export async function release(
  session: Session,
  { key, owner }: { readonly key: string; readonly owner: string },
): Promise<{ readonly released: boolean }> {
  const drop = 'delete from holdfast.named where key = $1 and owner = $2 returning 1'
  return { released: (await session.query(drop, [key, owner])).length === 1 }
}
