import type { EventOf } from '../engine/history.ts'
import { type DatabaseClock, jump, newClock } from './model/clock.ts'
import { driftMs, isPunctual } from './model/health.ts'
import { instant, span } from './model/when.ts'
import { type Who, nameOf } from './model/who.ts'
import { type World, newWorld, note, worldEvents } from './model/world.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: work under a named lease is done by one process at a time, or not at all. The store gives a lease to
 * one owner until it lapses or is given back, and a lapsed one is not renewed; a process stops counting on it
 * a TTL after it *sent* what last got it. So two are never at it at once. (Contract 0.2, 11.1 - 11.3.)
 *
 * That two do not overlap is asked where the first could know the time: its event loop and timers were well
 * since its lease last landed, and the clock of the database did not jump. So is that it stops within a TTL.
 *
 * A clock that runs slow by 1 % keeps a lease for 1 % too long.
 *
 * Blind spot: work that goes on after its signal fired.
 */
interface Lease {
  readonly owner: string
  /** By the database's clock. */
  expiresMs: number
}

interface Landing {
  readonly atMs: number
  readonly ttlMs: number
  /** Its work is over. */
  over: boolean
}

interface Work extends Who {
  readonly owner: string
}

interface State {
  readonly world: World
  readonly clock: DatabaseClock
  readonly leases: Map<string, Lease>
  /** When the lease of an owner last landed; it outlives the lease. */
  readonly landings: Map<string, Landing>
  readonly working: Map<string, Work>
}

export const namedLeaseExclusive: Property = property({
  name: 'named-lease-exclusive',
  kind: 'always',
  says: 'A named lease has one owner until it lapses or is given back, and its work is done by one process at a time.',
  blindSpot: 'Work that goes on after its signal fired is not seen.',
  on: [
    ...worldEvents,
    'named.acquired',
    'named.refused',
    'named.renewed',
    'named.released',
    'exclusive.began',
    'exclusive.lost',
    'exclusive.ended',
  ],
  // A backup gives a lease back to whom it had then, while another that got it since may still be at the work.
  suspendedBy: ['database-restored'],
  after: ['named.acquired'],
  start: (): State => ({
    world: newWorld(),
    clock: newClock(),
    leases: new Map(),
    landings: new Map(),
    working: new Map(),
  }),
  step(state, event, verdict) {
    const { world, clock } = state
    switch (event.type) {
      case 'database.jumped':
        return jump(clock, event)
      case 'named.acquired':
      case 'named.refused':
      case 'named.renewed':
      case 'named.released':
        return asked(state, event, verdict)
      case 'exclusive.began':
        return began(state, event, verdict)
      case 'exclusive.lost':
      case 'exclusive.ended':
        return over(state, event, verdict)
      default:
        note(world, event)
    }
  },
})

type Asked = EventOf<`named.${'acquired' | 'refused' | 'renewed' | 'released'}`>

function asked(state: State, event: Asked, verdict: Verdict): void {
  const { leases, clock } = state
  const { key, owner, atMs } = event
  const nowMs = atMs + clock.aheadMs
  const lease = leases.get(key)
  const held = lease !== undefined && nowMs < lease.expiresMs
  const mine = lease?.owner === owner
  verdict.evaluated()
  const kind = slipOf(event, held, mine)
  if (kind !== null) {
    const is = lease ? `${lease.owner} has it until ${instant(lease.expiresMs)}` : 'nobody has it'
    const message = `${event.type} of ${key} by ${owner} at ${instant(nowMs)}, by the database's clock; ${is}`
    verdict.violated({ kind, subject: key, message })
  }
  if (event.type === 'named.acquired' || (event.type === 'named.renewed' && event.held)) {
    leases.set(key, { owner, expiresMs: nowMs + event.ttlMs })
    const { over = false } = state.landings.get(owner) ?? {}
    state.landings.set(owner, { atMs, ttlMs: event.ttlMs, over })
  } else if (event.type === 'named.released' && event.released) leases.delete(key)
}

function slipOf(event: Asked, held: boolean, mine: boolean): string | null {
  switch (event.type) {
    case 'named.acquired':
      return held ? 'acquired-while-held' : null
    case 'named.refused':
      return held ? null : 'refused-though-free'
    case 'named.renewed':
      if (event.held === (held && mine)) return null
      return event.held ? 'renewed-unheld' : 'owner-refused'
    case 'named.released':
      return event.released && !mine ? 'released-by-another' : null
  }
}

/** Once the work is over, or told that it must be. */
function over(state: State, event: EventOf<'exclusive.lost' | 'exclusive.ended'>, verdict: Verdict): void {
  const { world, working, landings } = state
  const { key, owner, type, atMs } = event
  if (working.get(key)?.owner === owner) working.delete(key)
  const landing = landings.get(owner)
  if (!landing || landing.over) return
  landing.over = true
  const lateMs = atMs - landing.atMs - landing.ttlMs - driftMs(world, event, landing.atMs, landing.ttlMs)
  if (!isPunctual(world, event, landing.atMs)) return
  verdict.evaluated()
  if (lateMs <= 0) return
  const message = `${type} of ${key} by ${nameOf(event)} came ${span(lateMs)} after the last lease that it had of ${span(landing.ttlMs)}`
  verdict.violated({ kind: 'kept-too-long', subject: key, message })
}

function began(state: State, event: EventOf<'exclusive.began'>, verdict: Verdict): void {
  const { world, clock, working } = state
  const { key, owner, node, incarnation } = event
  const first = working.get(key)
  working.set(key, { owner, node, incarnation })
  if (!first) return
  const { atMs: landedAtMs = 0, ttlMs = 0 } = state.landings.get(first.owner) ?? {}
  const driftedMs = driftMs(world, first, landedAtMs, ttlMs)
  // A slow clock: the end of its lease is not over for it yet.
  if (driftedMs > 0 && event.atMs <= landedAtMs + ttlMs + driftedMs) return
  // Whoever died is at nothing any more.
  if (!isPunctual(world, first, landedAtMs) || (clock.jumpedAtMs ?? -1) >= landedAtMs) return
  verdict.evaluated()
  const message = `${nameOf(event)} began the work of ${key}, which ${nameOf(first)} was still at`
  verdict.violated({ kind: 'worked-at-once', subject: key, message })
}
