import type { Operation } from './statements.ts'

/** How often the store was restored from a backup, and said so; no row is never. */
export function timelineOf({ query }: Operation): number {
  const row = query<[timeline: number]>('select timeline from holdfast_timeline').get()
  return row?.[0] ?? 0
}
