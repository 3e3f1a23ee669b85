import type { LeaseRow } from '../../engine/ports/store.ts'
import { isSilent } from '../../engine/recovery/watch.ts'
import { type Content, byText } from './content.ts'

/** Lease rows whose holder is silent, longest expired first. */
export function silentLeases(content: Content, nowMs: number): LeaseRow[] {
  const sweepMs = content.watch?.sweepMs ?? 0
  const silent: LeaseRow[] = []
  for (const rows of content.leases.values()) {
    for (const row of rows) {
      if (isSilent(row, sweepMs, nowMs)) silent.push(row)
    }
  }
  return silent.sort((a, b) => a.expiresAtMs - b.expiresAtMs || byText(a.token, b.token) || a.ttlMs - b.ttlMs)
}
