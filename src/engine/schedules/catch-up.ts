import { type Slots, lastSlots } from './slots.ts'

/**
 * What becomes of slots that came while nobody fired them: none is made up for, the latest, or up to that many of the
 * latest.
 */
export type CatchUp = 'skip' | 'latest' | { readonly all: number }

export interface Turn {
  /** The slots to fire, the earliest first. */
  readonly slots: readonly number[]
  readonly nextAtMs: number | null
}

/** Under `skip` a slot that is so late was missed: twice as late as an engine may come that looks at its schedules. */
const lateMsMax = 60_000

/** What is to be done now about a schedule that is due: `dueAtMs` is its first slot that nobody fired. */
export function turnOf(slots: Slots, catchUp: CatchUp, dueAtMs: number, nowMs: number): Turn {
  const count = typeof catchUp === 'object' ? catchUp.all : 1
  const last = lastSlots(slots, dueAtMs, nowMs, count)
  const latestMs = last.at(-1) ?? dueAtMs
  const nextAtMs = slots.next(latestMs)
  if (catchUp !== 'skip') return { slots: last, nextAtMs }
  // Where several are due at once there was a stop, and it goes on with the next one to come.
  const onTime = latestMs === dueAtMs && nowMs - latestMs <= lateMsMax
  return { slots: onTime ? last : [], nextAtMs }
}
