import type { InspectableStore } from '../engine/ports/store.ts'
import type { Chooser } from './chooser.ts'
import { epochMs } from './clock/node-clock.ts'
import { type WorldEvent, createQueue } from './clock/queue.ts'
import { type Database, createDatabase } from './database.ts'
import type { Fault } from './faults/fault.ts'
import { type Incarnation, type SimNode, startProcess } from './node.ts'
import type { Recorder } from './recorder.ts'
import type { Service } from './services/service.ts'
import { type Services, createServices } from './services/services.ts'

/** One true time, one queue of events, nodes, one database. Nothing in it is shared with another world. */
export interface World {
  /** True time since the start, in ms. */
  readonly nowMs: number
  readonly chooser: Chooser
  readonly recorder: Recorder
  readonly database: Database
  readonly nodes: readonly SimNode[]
  /** The user's own. */
  readonly services: Services
  /** What became of the jobs, as operators see it. */
  readonly ledger: Ledger
  /** Resolves when the operator has done what was begun; nothing more is begun once it is `over`. */
  readonly operator: {
    busy: Promise<void>
    over: boolean
    /** Numbers of the processes through which all dead letters are being replayed. */
    readonly sweeping: Set<number>
  }
  /** Faults that took effect, by family. */
  readonly strikes: Map<string, number>
  schedule(
    owner: Incarnation,
    delayMs: number,
    label: string,
    fire: () => void,
    about?: WorldEvent['about'],
  ): WorldEvent
  /** An event of the environment or the database. */
  later(delayMs: number, label: string, fire: () => void, about?: WorldEvent['about']): WorldEvent
  /** The event that fires next. */
  next(): WorldEvent | undefined
  /** All that is pending, the next one last, cancelled ones among it. */
  readonly ahead: readonly WorldEvent[]
  /** Live events of the environment that are pending under this label, in default order. */
  pending(label: string): WorldEvent[]
  /** Moves all pending events that `which` picks. */
  retime(which: (event: WorldEvent) => boolean, atMs: (event: WorldEvent) => number): void
  /** Puts back an event that came due while its process stood still. */
  again(event: WorldEvent): void
  nodeNamed(name: string | undefined): SimNode | undefined
  start(node: SimNode): void
  /** `lastsMs`: how long it lasts, where no event of its own says that it is over. */
  struck(fault: Fault, owner: Incarnation | null, call?: string | null, lastsMs?: number): void
  /** Our own code broke: ends the run. */
  readonly fail: (error: unknown) => void
  readonly failure: { readonly error: unknown } | null
  /** Of the event that fired last. */
  readonly lastLabel: string
  readonly lastOwner: Incarnation | null
  /** Fires the next event, or this one of those that are pending; false when none is left. */
  readonly step: (event?: WorldEvent) => boolean
}

/** Jobs by what may be asked of them, in the order in which they came to be so. */
export interface Ledger {
  readonly open: Set<string>
  /** Failed or cancelled. */
  readonly stopped: Set<string>
  /** Failed for good, and not replayed, retried or discarded since. */
  readonly dead: Set<string>
}

export interface WorldOptions {
  readonly chooser: Chooser
  readonly recorder: (now: () => number) => Recorder
  readonly store: (time: { nowMs(): number }) => InspectableStore | Promise<InspectableStore>
  readonly nodes: readonly SimNode[]
  /** Default: none. */
  readonly services?: readonly Service[]
}

export async function createWorld(options: WorldOptions): Promise<World> {
  const queue = createQueue()
  const state = {
    nowMs: 0,
    ordinal: 0,
    failure: null as { error: unknown } | null,
    lastLabel: '',
    lastOwner: null as Incarnation | null,
  }
  const recorder = options.recorder(() => state.nowMs)
  const byName = new Map(options.nodes.map((node) => [node.name, node]))

  function push(
    owner: Incarnation | null,
    delayMs: number,
    label: string,
    fire: () => void,
    about: unknown = null,
  ): WorldEvent {
    const ordinal = owner ? ++owner.ordinal : ++state.ordinal
    const node = owner ? owner.node.index : 0
    const atMs = state.nowMs + delayMs
    const event = { atMs, node, ordinal, made: ordinal, owner, live: true, label, fire, about }
    queue.push(event)
    return event
  }

  const world: World = {
    get nowMs() {
      return state.nowMs
    },
    get lastLabel() {
      return state.lastLabel
    },
    get lastOwner() {
      return state.lastOwner
    },
    get failure() {
      return state.failure
    },
    chooser: options.chooser,
    recorder,
    get database() {
      return database
    },
    nodes: options.nodes,
    services: createServices(options.services ?? []),
    ledger: { open: new Set(), stopped: new Set(), dead: new Set() },
    operator: { busy: Promise.resolve(), over: false, sweeping: new Set() },
    strikes: new Map(),
    schedule: push,
    later: (delayMs, label, fire, about) => push(null, delayMs, label, fire, about),
    next: () => queue.next(),
    ahead: queue.events,
    pending: (label) => queue.pending(label),
    retime: (which, atMs) => queue.retime(which, atMs),
    again: (event) => {
      event.atMs = state.nowMs
      event.ordinal = ++(event.owner as Incarnation).ordinal
      queue.push(event)
    },
    nodeNamed: (name) => (name === undefined ? undefined : byName.get(name)),
    start: (node) => {
      if (!node.process) startProcess(world, node)
    },
    struck: (fault, owner, call = null, lastsMs = 0) => {
      world.strikes.set(fault.family, (world.strikes.get(fault.family) ?? 0) + 1)
      recorder.happened(owner, {
        type: 'fault.struck',
        fault: fault.id,
        family: fault.family,
        call,
        forMs: lastsMs,
      })
    },
    fail: (error) => {
      state.failure ??= { error }
    },
    step: (given) => {
      if (given) queue.take(given)
      const event = given ?? queue.pop()
      if (!event) return false
      state.nowMs = event.atMs
      state.lastLabel = event.label
      const { owner } = event
      state.lastOwner = owner
      if (owner === null) event.fire()
      else if (owner.paused) owner.deferred.push(event)
      else if (owner.alive) event.fire()
      return true
    },
  }
  const databaseNowMs = (): number => epochMs + state.nowMs + (opened?.aheadMs ?? 0)
  // A store may ask for the time while it is being made.
  let opened: Database | null = null
  const database = createDatabase(world, await options.store({ nowMs: databaseNowMs }))
  opened = database
  return world
}
