import type { NamedLeaseParams } from '../../engine/ports/store.ts'
import type { Content } from './content.ts'

export function acquire(
  content: Content,
  { key, owner, ttlMs }: NamedLeaseParams,
  nowMs: number,
): { acquired: boolean } {
  const lease = content.named.get(key)
  if (lease && nowMs < lease.expiresAtMs) return { acquired: false }
  content.named.set(key, { key, owner, expiresAtMs: nowMs + ttlMs })
  return { acquired: true }
}

export function renew(
  content: Content,
  { key, owner, ttlMs }: NamedLeaseParams,
  nowMs: number,
): { held: boolean } {
  const lease = content.named.get(key)
  if (!lease || lease.owner !== owner || nowMs >= lease.expiresAtMs) return { held: false }
  content.named.set(key, { key, owner, expiresAtMs: nowMs + ttlMs })
  return { held: true }
}

export function release(
  content: Content,
  { key, owner }: { readonly key: string; readonly owner: string },
): { released: boolean } {
  const mine = content.named.get(key)?.owner === owner
  if (mine) content.named.delete(key)
  return { released: mine }
}
