import type { EventOf } from '../../engine/history.ts'
import { isHarmless } from './harmless.ts'
import type { Who } from './who.ts'

/**
 * What befell the nodes and the database: what exemptions are made of. It knows no jobs, and judges nothing.
 */
export interface World {
  sweepMs: number
  storeCallMs: number
  replyMs: number
  downAtMs: number | null
  /** End of the last outage that the watch cannot have missed: one longer than two sweeps. */
  noticedUpAtMs: number
  /** By how much its clock has gone forward since. */
  wonMs: number
  /** The latest mishaps of the database, oldest first. */
  readonly mishaps: Mishap[]
  /** How many there were in all. */
  mishapCount: number
  readonly nodes: Map<string, Life>
}

/** An outage, or a fault of the database that is none: then it begins and ends in one instant. */
interface Mishap {
  readonly fromMs: number
  toMs: number
}

interface Life {
  readonly incarnation: number
  alive: boolean
  paused: boolean
  /** When a fault last struck it, or was or will be over. */
  touchedAtMs: number | null
  /** Until when its timers were late, or it stood still, at the latest. */
  lateAtMs: number
  /** Until when its clock ran fast or slow. */
  driftsUntilMs: number
}

export const worldEvents = [
  'run.started',
  'fault.struck',
  'node.started',
  'node.crashed',
  'node.paused',
  'node.resumed',
  'engine.stopped',
  'database.down',
  'database.up',
  'database.jumped',
] as const

/** A run has a handful of them; older ones are outside of every window that is asked for. */
const mishapsKept = 16

export function newWorld(): World {
  return {
    sweepMs: 0,
    storeCallMs: 0,
    replyMs: 0,
    downAtMs: null,
    noticedUpAtMs: 0,
    wonMs: 0,
    mishaps: [],
    mishapCount: 0,
    nodes: new Map(),
  }
}

export function note(world: World, event: EventOf<(typeof worldEvents)[number]>): void {
  switch (event.type) {
    case 'run.started':
      world.sweepMs = event.sweepMs
      world.storeCallMs = event.storeCallMs
      world.replyMs = event.replyMs
      return
    case 'database.down':
      world.downAtMs ??= event.atMs
      return begin(world, event.atMs, event.atMs)
    case 'database.up':
      return cameUp(world, event.atMs)
    case 'database.jumped':
      world.wonMs += Math.max(0, event.byMs)
      return
    case 'fault.struck':
      if (event.family === 'drift') drifts(lifeOf(world, event), event)
      if (isHarmless(event.family)) return
      // A machine that is off right now is told from the environment by its name alone.
      if (event.node === 'env') return begin(world, event.atMs, event.atMs + event.forMs)
      return struck(lifeOf(world, event), event)
    case 'node.started':
      world.nodes.set(event.node, followedBy(world.nodes.get(event.node), event.incarnation, event.atMs))
      return
  }
  noteLife(lifeOf(world, event), event.type, event.atMs)
}

function struck(life: Life | null, { type, family, atMs, forMs }: EventOf<'fault.struck'>): void {
  noteLife(life, type, atMs + forMs)
  if (life && family === 'timers') life.lateAtMs = Math.max(life.lateAtMs, atMs + forMs)
}

function drifts(life: Life | null, { atMs, forMs }: EventOf<'fault.struck'>): void {
  if (life) life.driftsUntilMs = Math.max(life.driftsUntilMs, atMs + forMs)
}

function noteLife(life: Life | null, type: string, atMs: number): void {
  if (!life) return
  if (life.touchedAtMs === null || atMs > life.touchedAtMs) life.touchedAtMs = atMs
  // An engine that stopped gives up what it could not settle in time: to its jobs it is dead.
  if (type === 'node.crashed' || type === 'engine.stopped') life.alive = false
  else if (type === 'node.paused') life.paused = true
  else if (type === 'node.resumed') {
    life.paused = false
    life.lateAtMs = Math.max(life.lateAtMs, atMs)
  }
}

/** What an earlier incarnation left behind changes nothing of this one. */
function lifeOf(world: World, { node, incarnation }: Who): Life | null {
  const known = world.nodes.get(node)
  if (known && known.incarnation >= incarnation) return known.incarnation === incarnation ? known : null
  const life = newLife(incarnation)
  world.nodes.set(node, life)
  return life
}

/** What still lasts is the machine's, and meets its next process too. */
function followedBy(before: Life | undefined, incarnation: number, atMs: number): Life {
  const life = newLife(incarnation)
  if (before) [life.lateAtMs, life.driftsUntilMs] = [before.lateAtMs, before.driftsUntilMs]
  if ((before?.touchedAtMs ?? -1) > atMs) life.touchedAtMs = before?.touchedAtMs ?? null
  return life
}

function newLife(incarnation: number): Life {
  return { incarnation, alive: true, paused: false, touchedAtMs: null, lateAtMs: -1, driftsUntilMs: -1 }
}

/** The fault and the outage that it causes are announced apart, in one instant: one mishap. */
function begin(world: World, atMs: number, untilMs: number): void {
  const last = world.mishaps.at(-1)
  if (last && atMs <= last.toMs) return void (last.toMs = Math.max(last.toMs, untilMs))
  world.mishapCount += 1
  world.mishaps.push({ fromMs: atMs, toMs: untilMs })
  if (world.mishaps.length > mishapsKept) world.mishaps.shift()
}

function cameUp(world: World, atMs: number): void {
  const last = world.mishaps.at(-1)
  if (last) last.toMs = Math.max(last.toMs, atMs)
  if (world.downAtMs !== null && atMs - world.downAtMs > 2 * world.sweepMs)
    [world.noticedUpAtMs, world.wonMs] = [atMs, 0]
  world.downAtMs = null
}
