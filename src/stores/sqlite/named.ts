import type { NamedLeaseParams } from '../../engine/ports/store.ts'
import type { Operation } from './statements.ts'

const take = `insert into holdfast_named (key, owner, expires_at) values (?, ?, holdfast_now() + ?)
  on conflict (key) do update set owner = excluded.owner, expires_at = excluded.expires_at
  where holdfast_now() >= holdfast_named.expires_at`

export function acquire(
  { command }: Operation,
  { key, owner, ttlMs }: NamedLeaseParams,
): { readonly acquired: boolean } {
  return { acquired: command(take).run(key, owner, ttlMs).changes === 1 }
}

const extend = `update holdfast_named set expires_at = holdfast_now() + ?
  where key = ? and owner = ? and holdfast_now() < expires_at`

export function renew(
  { command }: Operation,
  { key, owner, ttlMs }: NamedLeaseParams,
): { readonly held: boolean } {
  return { held: command(extend).run(ttlMs, key, owner).changes === 1 }
}

export function release(
  { command }: Operation,
  { key, owner }: { readonly key: string; readonly owner: string },
): { readonly released: boolean } {
  const drop = 'delete from holdfast_named where key = ? and owner = ?'
  return { released: command(drop).run(key, owner).changes === 1 }
}
