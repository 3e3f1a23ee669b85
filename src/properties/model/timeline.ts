import type { EventOf } from '../../engine/history.ts'

/** Which timeline the store is on: each restore from a backup that an operator tells of begins another. */
export interface Timeline {
  /** Epochs of it begin here. */
  first: number
  /** The call that began it: a repeat of it begins none. */
  token: string
}

/** So far is each timeline beyond the one before. */
const epochsEach = 1_000_000

export function newTimeline(): Timeline {
  return { first: 0, token: '' }
}

/** Whether this call begins one. */
export function begins(timeline: Timeline, event: EventOf<'timeline.began'>): boolean {
  if (event.token === timeline.token) return false
  timeline.token = event.token
  timeline.first = firstOf(event)
  return true
}

export function firstOf({ timeline }: EventOf<'timeline.began'>): number {
  return timeline * epochsEach
}
