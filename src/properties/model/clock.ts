import type { EventOf } from '../../engine/history.ts'

/** The database's clock, as far as it is off true time: what decides when a job is due or a lease lapses. */
export interface DatabaseClock {
  aheadMs: number
  /** When it last jumped. */
  jumpedAtMs: number | null
}

export function newClock(): DatabaseClock {
  return { aheadMs: 0, jumpedAtMs: null }
}

export function jump(clock: DatabaseClock, { byMs, atMs }: EventOf<'database.jumped'>): void {
  clock.aheadMs += byMs
  clock.jumpedAtMs = atMs
}
