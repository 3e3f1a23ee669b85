import type { WatchMoveParams, WatchMoveReply, WatchState } from '../../engine/ports/store.ts'
import { isFresh, moved } from '../../engine/recovery/watch.ts'
import { anySilent } from './silent.ts'
import type { Operation } from './statements.ts'

/** One row, read whole and written back by the rules of `engine/recovery/watch.ts`. */

export function declare(
  operation: Operation,
  { sweepMs }: { readonly sweepMs: number },
): { readonly sweepMs: number; readonly nowMs: number } {
  const { nowMs } = operation
  const found = watchOf(operation)
  if (found) return { sweepMs: found.sweepMs, nowMs }
  write(operation, { sweepMs, seenSinceMs: null, seenAtMs: null })
  return { sweepMs, nowMs }
}

export function move(operation: Operation, params: WatchMoveParams): WatchMoveReply {
  const { nowMs } = operation
  const found = watchOf(operation)
  const silent = anySilent(operation, found?.sweepMs ?? 0)
  // Without a period nothing is fresh, and a row made here would decide the period of the fleet.
  if (!found) return { kind: 'refused', nowMs, seenSinceMs: nowMs, silent }
  const { kind, watch } = moved(found, params, nowMs)
  if (kind !== 'refused') write(operation, watch)
  return { kind, nowMs, seenSinceMs: watch.seenSinceMs ?? nowMs, silent }
}

/** For how long the store has been seen without interruption, as of now; -1 if it is not being seen. */
export function quietForMs(operation: Operation, watch: WatchState | null = watchOf(operation)): number {
  if (!watch || watch.seenSinceMs === null || !isFresh(watch, operation.nowMs)) return -1
  return operation.nowMs - watch.seenSinceMs
}

export function watchOf({ query }: Operation): WatchState | null {
  const row = query<[number, number | null, number | null]>(
    'select sweep_ms, seen_since, seen_at from holdfast_watch',
  ).get()
  return row ? { sweepMs: row[0], seenSinceMs: row[1], seenAtMs: row[2] } : null
}

function write({ command }: Operation, { sweepMs, seenSinceMs, seenAtMs }: WatchState): void {
  command(
    'insert or replace into holdfast_watch (one, sweep_ms, seen_since, seen_at) values (1, ?, ?, ?)',
  ).run(sweepMs, seenSinceMs, seenAtMs)
}
