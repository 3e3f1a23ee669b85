import type { EngineEvent } from '../history.ts'
import { textOf } from '../jobs/text.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { ScheduleRow } from '../ports/schedules.ts'
import type { Store } from '../ports/store.ts'
import type { StoreHealth } from '../store-health.ts'
import { turnOf } from './catch-up.ts'
import { slotOf, specOf } from './spec.ts'
import { slotsOf } from './trigger.ts'

export interface FiringParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly ask: StoreHealth['ask']
  readonly emit: (event: EngineEvent) => void
  /** Jobs have been made. */
  readonly onFired: () => void
}

export interface Round {
  /** Until the next slot, by the database's time; null: there is no schedule that waits for one. */
  readonly nextInMs: number | null
  /** Something was not as it was said to be, or there is more: it is worth another look. */
  readonly again: boolean
  /** A schedule was due, and could not be fired. */
  readonly failed: boolean
}

const batch = 100
const earlyMs = 1_000
/** One that cannot be fired keeps no other waiting; where several in a row cannot, it is not for them. */
const failuresMax = 3
/** What is made in one call: of slots that are made up for, as many as fit, the rest being due at once. */
const bytesMax = 4 * 1_048_576

/**
 * Fires what is due, once: asks the store what that is, and for each tries to be the one who moves it on. All times
 * are the database's. Rejects where nothing gets through; what was fired before stays so.
 */
export async function fireDue(parts: FiringParts): Promise<Round> {
  const { store, ask } = parts
  const { nowMs, schedules, nextInMs } = await ask('schedules.due', store.schedules.due({ limit: batch }))
  let [next, again] = [nextInMs ?? Number.POSITIVE_INFINITY, false]
  let [unfired, failures, failuresInARow] = [0, 0, 0]
  for (const row of schedules) {
    let nextAtMs
    try {
      nextAtMs = await fireOne(parts, row, nowMs)
      failuresInARow = 0
    } catch (error) {
      failures += 1
      if (++failuresInARow >= failuresMax) throw error
      continue
    }
    if (nextAtMs === 'unreadable') unfired += 1
    else if (nextAtMs === 'lost') again = true
    else if (nextAtMs !== null) next = Math.min(next, nextAtMs - nowMs)
  }
  // Where none of a full batch can be fired here, another look would show the same.
  if (schedules.length === batch && unfired + failures < batch) again = true
  return { nextInMs: Number.isFinite(next) ? next : null, again, failed: failures > 0 }
}

/** Answers when it is due next. */
async function fireOne(
  { store, clock, random, ask, emit, onFired }: FiringParts,
  row: ScheduleRow,
  nowMs: number,
): Promise<number | null | 'lost' | 'unreadable'> {
  const { key, version, nextAtMs: dueAtMs } = row
  if (dueAtMs === null) return null
  let spec
  let turn
  try {
    spec = specOf(row)
    turn = turnOf(slotsOf(spec.trigger), spec.catchUp, dueAtMs, nowMs)
  } catch (error) {
    // Of a newer release, or a zone that this machine does not know: others may be able to.
    emit({ type: 'schedule.unreadable', key, message: textOf(error) })
    return 'unreadable'
  }
  const wallMs = clock.wallMs()
  const { trigger, catchUp, job } = spec
  const fit = Math.max(1, Math.floor(bytesMax / Buffer.byteLength(row.spec)))
  const nextAtMs = turn.slots[fit] ?? turn.nextAtMs
  const slots = turn.slots.slice(0, fit).map((atMs) => slotOf(key, { trigger, catchUp, job }, atMs, wallMs))
  const command = `schedule~${random.id('schedule')}`
  const fire = store.schedules.fire({ key, version, command, slots, nextAtMs })
  const { kind } = await ask('schedules.fire', fire)
  // The clock of the database was set back since the look.
  if (kind === 'early') return nowMs + earlyMs
  if (kind === 'lost') return 'lost'
  if (slots.length > 0) onFired()
  return nextAtMs
}
