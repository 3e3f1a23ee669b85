import type { Session } from '../database.ts'

/** How often the store was restored from a backup, and said so; no row is never. */
export async function timelineOf(session: Session): Promise<number> {
  const [row] = await session.query<[timeline: number]>('select timeline from holdfast.timeline')
  return row?.[0] ?? 0
}
