import { StoreUnavailable } from '../engine/errors.ts'
import type { InspectableStore, Store, StoreDump, StoreSnapshot } from '../engine/ports/store.ts'
import { type StoreCall, access } from '../stores/policy.ts'
import { whenDrained } from './barrier.ts'
import { isBurial, withRows } from './buried.ts'
import type { Fault } from './faults/fault.ts'
import type { Message } from './faults/wire.ts'
import { historyOf } from './history-of.ts'
import { membersOf } from './members.ts'
import type { Incarnation } from './node.ts'
import { isMixed } from './releases.ts'
import type { World } from './world.ts'

/** The simulated server around a real store: it can go away, and it runs one operation at a time. */
export interface Database {
  readonly raw: InspectableStore
  /** Set while it is away. */
  readonly down: Fault | null
  /** How far its clock is ahead of true time; negative: behind. */
  readonly aheadMs: number
  /** Rises whenever open connections are cut. */
  readonly generation: number
  readonly errors: Readonly<
    Record<'refused' | 'reset' | 'aborted' | 'readOnly' | 'diskFull', StoreUnavailable>
  >
  /** Operations that the store has not answered yet: the world stands still for them. */
  readonly busy: number
  /** A request is on its way, and will be executed when it is there. */
  arrives(delayMs: number, execute: () => void, message?: Message): void
  execute<P, R>(
    owner: Incarnation,
    name: StoreCall,
    params: P,
    run: (store: Store, params: P) => Promise<R>,
  ): Promise<R>
  /** All that is in it, once what was asked before has been done. */
  dump(): Promise<StoreDump>
  /** An operation that came while it was stalled: it lands when the stall is over. */
  hold(execute: () => void): void
  goDown(fault: Fault): void
  /** How often a backup of it was made, and how often it was restored from one. */
  readonly backups: number
  readonly restores: number
  /** Copies all that is in it. */
  backUp(): Promise<Backup>
  /** Goes away, whatever kept it away before, and comes back as it was then, under hold. */
  goBack(fault: Fault, backup: Backup): Promise<void>
  /** Has no room for new rows for a while. */
  fill(fault: Fault): void
  /** Has room again. */
  makeRoom(): void
  /** What the server says to such a call now, in place of executing it; null: nothing. */
  refusal(name: StoreCall): StoreUnavailable | null
  jump(byMs: number): void
  /** Comes back at once, whatever kept it away. */
  comeUp(): void
}

export interface Backup {
  readonly snapshot: StoreSnapshot
  readonly atMs: number
}

/** Label of the events at which a request reaches the server. */
export const arrival = 'arrival'

/**
 * One operation after another. The next one starts when all that the answer to the one before has set off has run:
 * so they do not mix, however many turns a store takes for each.
 */
function createTurns(): { readonly taken: number; take<R>(work: () => Promise<R>): Promise<R> } {
  const waiting: (() => void)[] = []
  let taken = 0
  return {
    get taken() {
      return taken
    },
    take: async (work) => {
      taken += 1
      if (taken > 1) await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        taken -= 1
        const next = waiting.shift()
        if (next) whenDrained(next)
      }
    },
  }
}

export function createDatabase(world: World, raw: InspectableStore): Database {
  const held: (() => void)[] = []
  const state = {
    down: null as Fault | null,
    full: null as Fault | null,
    aheadMs: 0,
    generation: 0,
    backups: 0,
    restores: 0,
  }
  const turns = createTurns()
  const mixed = isMixed(world)
  const errors = {
    refused: new StoreUnavailable('connection refused (simulated)', 'no'),
    reset: new StoreUnavailable('connection reset (simulated)', 'maybe'),
    aborted: new StoreUnavailable('serialization failure, rolled back (simulated)', 'no'),
    readOnly: new StoreUnavailable('read-only transaction (simulated)', 'no'),
    diskFull: new StoreUnavailable('no space left on device (simulated)', 'no'),
  }

  function landAll(): void {
    for (const event of world.pending(arrival)) {
      event.live = false
      event.fire()
    }
  }

  function beDown(fault: Fault): void {
    state.down = fault
    // A stall cuts no connection: what was asked meanwhile is answered in the end.
    if (fault.how !== 'stall') state.generation += 1
    world.recorder.happened(null, { type: 'database.down', forMs: fault.forMs ?? 0 })
    const end = (): void => {
      if (state.down === fault) database.comeUp()
    }
    world.later(fault.forMs ?? 0, 'database-up', end, fault.how)
  }

  const database: Database = {
    raw,
    errors,
    get down() {
      return state.down
    },
    get aheadMs() {
      return state.aheadMs
    },
    get generation() {
      return state.generation
    },
    get busy() {
      return turns.taken
    },
    arrives: (delayMs, execute, message) => void world.later(delayMs, arrival, execute, message),
    execute: (owner, name, params, run) =>
      turns.take(async () => {
        try {
          const { reply, rows } = isBurial(name)
            ? await withRows(raw, params, () => run(raw, params))
            : { reply: await run(raw, params), rows: null }
          world.recorder.executed(owner, name)
          for (const event of historyOf(name, params, reply, rows)) world.recorder.stored(owner, event)
          if (mixed)
            for (const event of membersOf(name, params, reply, rows)) world.recorder.stored(owner, event)
          return reply
        } catch (error) {
          // What is simulated is done by the wire: a store that is really away is no part of any world.
          if (error instanceof StoreUnavailable) world.fail(error)
          throw error
        }
      }),
    dump: () => turns.take(() => raw.dump()),
    hold: (execute) => void held.push(execute),
    jump: (byMs) => {
      state.aheadMs += byMs
      world.recorder.happened(null, { type: 'database.jumped', byMs })
    },
    goDown: (fault) => {
      if (state.down) return
      world.struck(fault, null)
      if (fault.lands) landAll()
      beDown(fault)
    },
    get backups() {
      return state.backups
    },
    get restores() {
      return state.restores
    },
    backUp: () => {
      state.backups += 1
      return turns.take(async () => {
        const snapshot = await raw.snapshot()
        world.recorder.happened(null, { type: 'database.backedUp' })
        return { snapshot, atMs: world.nowMs }
      })
    },
    goBack: (fault, { snapshot, atMs: toMs }) => {
      world.struck(fault, null)
      state.full = null
      state.restores += 1
      // Nobody that waited for the old one is answered by the new.
      held.length = 0
      beDown(fault)
      return turns.take(async () => {
        await raw.restore(snapshot)
        const { hold, paused } = await raw.control.set({ hold: true })
        world.recorder.happened(null, { type: 'database.restored', toMs })
        world.recorder.stored(null, { type: 'control.changed', hold, paused })
      })
    },
    fill: (fault) => {
      world.struck(fault, null, null, fault.forMs)
      state.full = fault
      world.later(fault.forMs ?? 0, 'room', () => {
        if (state.full === fault) state.full = null
      })
    },
    refusal: (name) => {
      if (state.down?.how === 'read-only' && access[name] !== 'read') return errors.readOnly
      return state.full && access[name] === 'insert' ? errors.diskFull : null
    },
    makeRoom: () => {
      state.full = null
    },
    comeUp: () => {
      if (!state.down) return
      state.down = null
      world.recorder.happened(null, { type: 'database.up' })
      // Events of their own: in this one others move too.
      for (const execute of held.splice(0)) world.later(0, 'landing', execute)
    },
  }
  return database
}
