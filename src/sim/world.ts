import type { InspectableStore } from '../engine/ports/store.ts'
import type { Chooser } from './chooser.ts'
import { epochMs } from './clock/node-clock.ts'
import { type WorldEvent, createQueue } from './clock/queue.ts'
import { type Database, createDatabase } from './database.ts'
import type { Fault } from './faults/fault.ts'
import { type Incarnation, type SimNode, startProcess } from './node.ts'
import type { Recorder } from './recorder.ts'

/** One true time, one queue of events, nodes, one database. Nothing in it is shared with another world. */
export interface World {
  /** True time since the start, in ms. */
  readonly nowMs: number
  readonly chooser: Chooser
  readonly recorder: Recorder
  readonly database: Database
  readonly nodes: readonly SimNode[]
  /** Faults that took effect, by family. */
  readonly strikes: Map<string, number>
  schedule(owner: Incarnation, delayMs: number, label: string, fire: () => void): WorldEvent
  /** An event of the environment or the database. */
  later(delayMs: number, label: string, fire: () => void): WorldEvent
  /** Live events of the environment that are pending under this label, in default order. */
  pending(label: string): WorldEvent[]
  /** Puts back an event that came due while its process stood still. */
  again(event: WorldEvent): void
  nodeNamed(name: string | undefined): SimNode | undefined
  start(node: SimNode): void
  struck(fault: Fault, owner: Incarnation | null, call?: string): void
  /** Our own code broke: ends the run. */
  readonly fail: (error: unknown) => void
  readonly failure: { readonly error: unknown } | null
  /** Of the event that fired last. */
  readonly lastLabel: string
  /** Fires the next event; false when none is left. */
  step(): boolean
}

export interface WorldOptions {
  readonly chooser: Chooser
  readonly recorder: (now: () => number) => Recorder
  readonly store: (time: { nowMs(): number }) => InspectableStore
  readonly nodes: readonly SimNode[]
}

export function createWorld(options: WorldOptions): World {
  const queue = createQueue()
  const state = { nowMs: 0, ordinal: 0, failure: null as { error: unknown } | null, lastLabel: '' }
  const recorder = options.recorder(() => state.nowMs)
  const byName = new Map(options.nodes.map((node) => [node.name, node]))

  function push(owner: Incarnation | null, delayMs: number, label: string, fire: () => void): WorldEvent {
    const ordinal = owner ? ++owner.ordinal : ++state.ordinal
    const node = owner ? owner.node.index : 0
    const event = { atMs: state.nowMs + delayMs, node, ordinal, owner, live: true, label, fire }
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
    get failure() {
      return state.failure
    },
    chooser: options.chooser,
    recorder,
    get database() {
      return database
    },
    nodes: options.nodes,
    strikes: new Map(),
    schedule: push,
    later: (delayMs, label, fire) => push(null, delayMs, label, fire),
    pending: (label) => queue.pending(label),
    again: (event) => {
      event.atMs = state.nowMs
      event.ordinal = ++(event.owner as Incarnation).ordinal
      queue.push(event)
    },
    nodeNamed: (name) => (name === undefined ? undefined : byName.get(name)),
    start: (node) => {
      if (!node.process) startProcess(world, node)
    },
    struck: (fault, owner, call) => {
      world.strikes.set(fault.family, (world.strikes.get(fault.family) ?? 0) + 1)
      recorder.happened(owner, {
        type: 'fault.struck',
        fault: fault.id,
        family: fault.family,
        call: call ?? null,
      })
    },
    fail: (error) => {
      state.failure ??= { error }
    },
    step: () => {
      const event = queue.pop()
      if (!event) return false
      state.nowMs = event.atMs
      state.lastLabel = event.label
      const { owner } = event
      if (owner === null) event.fire()
      else if (owner.paused) owner.deferred.push(event)
      else if (owner.alive) event.fire()
      return true
    },
  }
  const database = createDatabase(world, options.store({ nowMs: () => epochMs + state.nowMs }))
  return world
}
