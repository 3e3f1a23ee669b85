import type { EventOf } from '../../engine/history.ts'
import { type DatabaseClock, jump, newClock } from './clock.ts'
import { isHarmless } from './harmless.ts'

/**
 * Who sweeps, and since when without a hitch: what a bound on recovery may count on. Any one sweeper is
 * enough, because each moves the watch and reclaims for the whole fleet.
 */
export interface Sweepers {
  sweepMs: number
  storeCallMs: number
  down: boolean
  /** End of the last outage. */
  upAtMs: number | null
  readonly clock: DatabaseClock
  /** When the outage watch last began anew; null before its first move. */
  restartedAtMs: number | null
  readonly nodes: Map<string, Sweeper>
}

interface Sweeper {
  readonly incarnation: number
  dead: boolean
  sweeping: boolean
  paused: boolean
  /** The clock went back, and it has not moved the watch since: it will begin it anew, since it knows of the jump. */
  setBack: boolean
  /** A move that it sent before it knew better is still on its way, and will begin the watch anew, too. */
  straggler: boolean
  /** Until when its clock ran fast or slow; after a long silence a fast one tells of a jump that never was. */
  driftsUntilMs: number | null
  /** From here on each of its turns must have done its work. */
  soundAtMs: number
}

export const sweeperEvents = [
  'run.started',
  'node.started',
  'node.crashed',
  'node.paused',
  'node.resumed',
  'engine.started',
  'engine.stopped',
  'fault.struck',
  'database.down',
  'database.up',
  'database.jumped',
  'watch.moved',
] as const

type SweeperEvent = EventOf<(typeof sweeperEvents)[number]>

/** The calls of a turn: each may keep it, and a turn that joins it, waiting for the whole call bound. */
const sweepCalls = new Set([
  'watch.move',
  'jobs.reclaim',
  'jobs.expireTimeouts',
  'jobs.adopt',
  'jobs.repairDispatch',
  'jobs.queueAges',
  'claims.collect',
])

export function newSweepers(): Sweepers {
  return {
    sweepMs: 0,
    storeCallMs: 0,
    down: false,
    upAtMs: null,
    clock: newClock(),
    restartedAtMs: null,
    nodes: new Map(),
  }
}

export function note(sweepers: Sweepers, event: SweeperEvent): void {
  switch (event.type) {
    case 'run.started':
      sweepers.sweepMs = event.sweepMs
      sweepers.storeCallMs = event.storeCallMs
      return
    case 'database.down':
      sweepers.down = true
      return
    case 'database.up':
      sweepers.down = false
      sweepers.upAtMs = event.atMs
      return disturbAll(sweepers, event.atMs)
    case 'watch.moved':
      if (event.kind === 'restarted') return restarted(sweepers, event)
      // A late move was refused: this turn swept under a watch that may have been stale.
      if (event.kind === 'refused') disturb(sweeperOf(sweepers, event), event.atMs)
      else heard(sweeperOf(sweepers, event), event.atMs)
      return
    case 'fault.struck':
      if (event.call === 'watch.move' && event.family === 'late-request') late(sweeperOf(sweepers, event))
      if (event.family === 'drift') drifts(sweeperOf(sweepers, event), event)
      if (isHarmless(event.family)) return
      if (event.node === 'env') return disturbAll(sweepers, event.atMs + event.forMs + sweepers.storeCallMs)
      if (event.call !== null && !sweepCalls.has(event.call)) return
      return disturb(sweeperOf(sweepers, event), event.atMs + event.forMs + sweepers.storeCallMs)
    case 'database.jumped':
      if (event.byMs < 0) for (const sweeper of sweepers.nodes.values()) sweeper.setBack = true
      return jump(sweepers.clock, event)
    default:
      return live(sweeperOf(sweepers, event), event, sweepers.storeCallMs)
  }
}

type LifeEvent = EventOf<
  `node.${'started' | 'crashed' | 'paused' | 'resumed'}` | `engine.${'started' | 'stopped'}`
>

function live(sweeper: Sweeper | null, event: LifeEvent, storeCallMs: number): void {
  if (!sweeper) return
  if (event.type === 'node.crashed') sweeper.dead = true
  else if (event.type === 'engine.started') sweeper.sweeping = true
  else if (event.type === 'engine.stopped') sweeper.sweeping = false
  else if (event.type === 'node.paused') sweeper.paused = true
  else if (event.type === 'node.resumed') sweeper.paused = false
  // Calls that were in flight when it fell asleep may still hang for their bound.
  disturb(sweeper, event.type === 'node.resumed' ? event.atMs + storeCallMs : event.atMs)
}

/** Since when some one sweeper has worked without a hitch, up to now; null if nobody sweeps. */
export function soundSince({ nodes }: Sweepers): number | null {
  let earliestMs: number | null = null
  for (const { dead, sweeping, paused, soundAtMs } of nodes.values()) {
    if (dead || !sweeping || paused) continue
    if (earliestMs === null || soundAtMs < earliestMs) earliestMs = soundAtMs
  }
  return earliestMs
}

/** Whether this incarnation has died, or its node already runs a later one. */
export function isDead(
  { nodes }: Sweepers,
  { node, incarnation }: { node: string; incarnation: number },
): boolean {
  const known = nodes.get(node)
  return (
    known !== undefined &&
    (known.incarnation > incarnation || (known.dead && known.incarnation === incarnation))
  )
}

function sweeperOf({ nodes }: Sweepers, { node, incarnation, atMs }: SweeperEvent): Sweeper | null {
  const known = nodes.get(node)
  if (known && known.incarnation >= incarnation) return known.incarnation === incarnation ? known : null
  // What still lasts is the machine's, and meets its next process too; and so does what it has sent.
  const soundAtMs = Math.max(atMs, known?.soundAtMs ?? 0)
  const sweeper = {
    incarnation,
    dead: false,
    sweeping: false,
    paused: false,
    setBack: false,
    straggler: known?.straggler ?? false,
    driftsUntilMs: known?.driftsUntilMs ?? null,
    soundAtMs,
  }
  nodes.set(node, sweeper)
  return sweeper
}

function heard(sweeper: Sweeper | null, atMs: number): void {
  if (!sweeper) return
  sweeper.setBack = false
  if (atMs > (sweeper.driftsUntilMs ?? atMs)) sweeper.driftsUntilMs = null
}

function drifts(sweeper: Sweeper | null, { atMs, forMs }: EventOf<'fault.struck'>): void {
  if (sweeper) sweeper.driftsUntilMs = Math.max(sweeper.driftsUntilMs ?? 0, atMs + forMs)
}

function late(sweeper: Sweeper | null): void {
  if (sweeper?.setBack) sweeper.straggler = true
}

/** Whoever began it anew need not have heard of that, and then does so again; what was late is late no more. */
function restarted(sweepers: Sweepers, { node, atMs }: EventOf<'watch.moved'>): void {
  sweepers.restartedAtMs = atMs
  const sweeper = sweepers.nodes.get(node)
  if (sweeper && !sweeper.setBack) sweeper.straggler = false
}

/**
 * Whether this node is to begin the watch anew, because it has last heard of the store before its clock went back, or
 * may believe so.
 */
export function knowsOfJump({ nodes }: Sweepers, node: string): boolean {
  const sweeper = nodes.get(node)
  return sweeper !== undefined && (sweeper.setBack || sweeper.straggler || sweeper.driftsUntilMs !== null)
}

function disturb(sweeper: Sweeper | null, untilMs: number): void {
  if (sweeper && untilMs > sweeper.soundAtMs) sweeper.soundAtMs = untilMs
}

function disturbAll({ nodes }: Sweepers, untilMs: number): void {
  for (const sweeper of nodes.values()) disturb(sweeper, untilMs)
}
