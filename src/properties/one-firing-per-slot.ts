import type { EventOf } from '../engine/history.ts'
import { type DatabaseClock, jump, newClock } from './model/clock.ts'
import { type Times, slotNamed, slotTest, slotsBetween } from './model/slots.ts'
import { instant, span } from './model/when.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a schedule is a promise about each of its slots: one job, not before its time by the clock of the database,
 * whatever engines die, stall or race for it; and none left out but what its policy says of a time when nobody was
 * there. So each firing is compared with the slots that lie between what was due before and what is next now, reckoned
 * here anew, and with what the policy makes of them. In the end none may be left behind. (Contract 0.16, 17; E19, E21.)
 *
 * Blind spot: expressions of days and months, and zones whose clocks change, are compared with nothing but themselves:
 * no slot twice, none early, none while it is paused.
 */
interface Known {
  times: Times
  catchUp: EventOf<'schedule.put'>['catchUp']
  paused: boolean
  nextMs: number | null
  readonly fired: Set<number>
}

interface State {
  readonly clock: DatabaseClock
  /** The latest time that the database's clock has shown: what came before may have been thought past. */
  highMs: number
  readonly schedules: Map<string, Known>
  healedAtMs: number | null
}

/** Of `skip`: what is later than that was missed. */
const lateMs = 60_000
/** By then every engine has looked again, and one has fired. */
const behindMsMax = 90_000

export const oneFiringPerSlot: Property = property({
  name: 'one-firing-per-slot',
  kind: 'always',
  says: 'Each slot of a schedule makes one job, not before its time, and none is left out but by its policy or a pause.',
  blindSpot: 'Slots of days, months and zones whose clocks change are not reckoned anew.',
  on: [
    'database.jumped',
    'schedule.put',
    'schedule.paused',
    'schedule.removed',
    'schedule.fired',
    'run.healed',
    'run.ended',
  ],
  suspendedBy: [],
  recalls: ['schedules'],
  after: ['schedule.fired'],
  start: (): State => ({
    clock: newClock(),
    highMs: 0,
    schedules: new Map(),
    healedAtMs: null,
  }),
  step(state, event, verdict) {
    state.highMs = Math.max(state.highMs, event.atMs + state.clock.aheadMs)
    switch (event.type) {
      case 'database.jumped':
        return jump(state.clock, event)
      case 'schedule.put':
        return put(state, event, verdict)
      case 'schedule.paused':
        return paused(state, event, verdict)
      case 'schedule.removed':
        return void (event.removed && state.schedules.delete(event.key))
      case 'schedule.fired':
        return fired(state, event, verdict)
      case 'run.healed':
        return void (state.healedAtMs = event.atMs)
      case 'run.ended':
        return ended(state, event, verdict)
    }
  },
})

function put(state: State, event: EventOf<'schedule.put'>, verdict: Verdict): void {
  if (event.kind !== 'put') return
  const { key, catchUp, nextMs } = event
  const { paused = false, fired = new Set<number>() } = state.schedules.get(key) ?? {}
  const known = { times: event, catchUp, paused, nextMs, fired }
  state.schedules.set(key, known)
  goesOn(state, key, known, verdict)
}

function paused(
  state: State,
  { key, paused, applied, nextMs, atMs }: EventOf<'schedule.paused'>,
  verdict: Verdict,
): void {
  const known = state.schedules.get(key)
  if (!applied || !known) return
  const goes = known.paused && !paused
  known.paused = paused
  known.nextMs = nextMs
  if (!goes) return
  goesOn(state, key, known, verdict)
  const { clock } = state
  const nowMs = atMs + clock.aheadMs
  // It was asked a moment before it landed.
  if (nextMs === null || (clock.jumpedAtMs ?? -1) >= atMs - lateMs || nextMs > nowMs - lateMs) return
  const message = `schedule ${key} goes on at ${instant(nowMs)} with the slot ${instant(nextMs)}, at which it was paused`
  verdict.violated({ kind: 'made-up', subject: key, message })
}

/** From what it says is next, no slot that is still to come may be left out. */
function goesOn(state: State, key: string, { times, nextMs }: Known, verdict: Verdict): void {
  if (nextMs === null) return
  const passedOver = slotsBetween(times, state.highMs + 1, nextMs)
  if (passedOver === null) return
  verdict.evaluated()
  const [first] = passedOver
  if (first !== undefined) {
    const message = `schedule ${key} goes on at ${instant(nextMs)}, and passes over the slot at ${instant(first)}`
    verdict.violated({ kind: 'passed-over', subject: key, message })
  } else if (slotTest(times)?.(nextMs) === false) offTheGrid(key, nextMs, verdict)
}

function offTheGrid(key: string, atMs: number, verdict: Verdict): void {
  const message = `${instant(atMs)} is no slot of schedule ${key}`
  verdict.violated({ kind: 'no-slot', subject: key, message })
}

function fired(state: State, event: EventOf<'schedule.fired'>, verdict: Verdict): void {
  if (event.outcome !== 'fired') return
  const { key } = event
  const nowMs = event.atMs + state.clock.aheadMs
  const known = state.schedules.get(key)
  verdict.evaluated()
  if (!known || known.paused) {
    const message = `schedule ${key} fired, and is ${known ? 'paused' : 'not there'}`
    return verdict.violated({ kind: 'fired-while-off', subject: key, message })
  }
  let slips = 0
  for (const [k, slotMs] of event.slots.entries()) {
    const slip = slipOf({ key, slotMs, job: event.jobs[k], nowMs }, known)
    if (slip) {
      verdict.violated({ subject: key, ...slip })
      slips += 1
    }
    known.fired.add(slotMs)
  }
  const dueMs = known.nextMs
  known.nextMs = event.nextMs
  // One thing is told once.
  if (slips > 0) return
  if (dueMs !== null && event.nextMs !== null) caughtUp(state, event, { ...known, nextMs: dueMs }, verdict)
}

interface Fired {
  readonly key: string
  readonly slotMs: number
  readonly job: string | undefined
  readonly nowMs: number
}

function slipOf(
  { key, slotMs, job, nowMs }: Fired,
  { times, fired }: Known,
): { readonly kind: string; readonly message: string } | null {
  const slot = `the slot ${instant(slotMs)} of schedule ${key}`
  if (slotMs > nowMs) return { kind: 'early', message: `${slot} was fired at ${instant(nowMs)}` }
  if (fired.has(slotMs)) return { kind: 'fired-twice', message: `${slot} was fired twice` }
  if (slotTest(times)?.(slotMs) === false) return { kind: 'no-slot', message: `${slot} is none` }
  if (job !== undefined && slotNamed(key, job) === slotMs) return null
  return { kind: 'other-id', message: `${slot} made the job ${job ?? '(none)'}, whose id names another` }
}

/** What lies between what was due and what is next, against what the policy makes of it. */
function caughtUp(state: State, event: EventOf<'schedule.fired'>, known: Known, verdict: Verdict): void {
  const { key, slots, nextMs } = event
  const { times, catchUp, nextMs: dueMs } = known
  const passed = slotsBetween(times, dueMs ?? 0, nextMs ?? 0)
  if (passed === null) return
  if (slotTest(times)?.(nextMs ?? 0) === false) return offTheGrid(key, nextMs ?? 0, verdict)
  const latestMs = passed.at(-1)
  const of = `schedule ${key}, due since ${instant(dueMs ?? 0)} and next at ${instant(nextMs ?? 0)},`
  if (latestMs !== undefined && latestMs > state.highMs) {
    const message = `${of} passes over the slot at ${instant(latestMs)}, which has not come`
    return verdict.violated({ kind: 'passed-over', subject: key, message })
  }
  const count = typeof catchUp === 'number' ? catchUp : 1
  const owed = catchUp === 'skip' && (passed.length > 1 || slots.length === 0) ? [] : passed.slice(-count)
  const onTime = passed.length === 1 && latestMs !== undefined && state.highMs - latestMs <= lateMs
  if (catchUp === 'skip' && onTime && slots.length === 0) {
    const message = `${of} fired nothing at ${instant(state.highMs)}, though it was in time`
    return verdict.violated({ kind: 'missed', subject: key, message })
  }
  if (slots.join() === owed.join()) return
  const kind = slots.length < owed.length ? 'missed' : 'made-up'
  const message = `${of} fired ${named(slots)} of ${passed.length}, and was to fire ${named(owed)}`
  verdict.violated({ kind, subject: key, message })
}

function named(slots: readonly number[]): string {
  return slots.length === 0 ? 'nothing' : slots.map(instant).join(', ')
}

function ended(state: State, { atMs }: EventOf<'run.ended'>, verdict: Verdict): void {
  const { healedAtMs, schedules, clock } = state
  if (healedAtMs === null) return
  for (const [key, { paused, nextMs }] of schedules) {
    if (paused || nextMs === null) continue
    verdict.evaluated()
    const behindMs = atMs - Math.max(healedAtMs, nextMs - clock.aheadMs)
    if (behindMs <= behindMsMax) continue
    const message = `schedule ${key} was due at ${instant(nextMs)}, and ${span(behindMs)} later nobody has fired it`
    verdict.violated({ kind: 'left-behind', subject: key, message })
  }
}
