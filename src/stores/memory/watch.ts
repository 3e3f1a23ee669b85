import type { WatchMoveParams, WatchMoveReply } from '../../engine/ports/store.ts'
import { isFresh, moved } from '../../engine/recovery/watch.ts'
import type { Content } from './content.ts'
import { silentLeases } from './silent.ts'

export function declare(
  content: Content,
  { sweepMs }: { readonly sweepMs: number },
  nowMs: number,
): { sweepMs: number; nowMs: number } {
  content.watch ??= { sweepMs, seenSinceMs: null, seenAtMs: null }
  return { sweepMs: content.watch.sweepMs, nowMs }
}

export function move(content: Content, params: WatchMoveParams, nowMs: number): WatchMoveReply {
  const silent = silentLeases(content, nowMs).length > 0
  // Without a period nothing is fresh, and a row made here would decide the period of the fleet.
  if (!content.watch) return { kind: 'refused', nowMs, seenSinceMs: nowMs, silent }
  const next = moved(content.watch, params, nowMs)
  content.watch = next.watch
  return { kind: next.kind, nowMs, seenSinceMs: next.watch.seenSinceMs ?? nowMs, silent }
}

/** For how long the store has been seen without interruption, as of now; -1 if it is not being seen. */
export function quietForMs({ watch }: Content, nowMs: number): number {
  if (!watch || watch.seenSinceMs === null || !isFresh(watch, nowMs)) return -1
  return nowMs - watch.seenSinceMs
}
