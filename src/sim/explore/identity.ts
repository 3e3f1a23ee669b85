import { type RestState, restStateOf } from '../../engine/rest-state.ts'
import type { Content } from '../../stores/memory/content.ts'
import { jobsUnder } from '../../stores/memory/claims.ts'
import type { WorldEvent } from '../clock/queue.ts'
import type { Message } from '../faults/wire.ts'
import type { Incarnation, SimNode } from '../node.ts'
import type { World } from '../world.ts'
import { databaseOf } from './database.ts'
import { Portrait, type Texts } from './portrait.ts'

/** What the identity of a state is made of; one can be left out, to see that it is missed. */
export const components = [
  'database',
  'claims',
  'nodes',
  'restarts',
  'deferred',
  'outage',
  'messages',
  'timers',
  'environment',
  'monitors',
] as const
export type Component = (typeof components)[number]

export interface IdentityOptions {
  /** Take a process that rests for what it says of itself, not for all that it ever met. Default true. */
  readonly rest?: boolean
  readonly omit?: Component
}

/** A process as the sum of its inputs since it started, or since it last rested. */
interface Life {
  process: Incarnation | null
  /** Null: it has not rested yet. */
  rest: RestState
  readonly inputs: Input[]
  /** Of all that; drawn when somebody looks at it. */
  readonly portrait: Portrait
  isOld: boolean
}

interface Input {
  readonly label: string
  readonly about: unknown
  readonly atMs: number
}

const nothing = { owner: null, label: '', about: null } as const

/**
 * The identity of a world at one instant: two with the same go on in the same way, whatever led to them. Times count
 * from now; names count by where they stand, in the order in which they are met.
 */
export class Identity {
  readonly #world: World
  readonly #content: () => Content
  readonly #texts: Texts
  readonly #rest: boolean
  readonly #omit: Component | null
  readonly #lives: readonly Life[]
  readonly #messages = new WeakMap<object, Portrait>()
  readonly #monitors: { steps: number; readonly portrait: Portrait }[] = []
  readonly #database: Portrait
  readonly #whole: Portrait
  #databaseIsOld = true

  constructor(world: World, content: () => Content, texts: Texts, { rest = true, omit }: IdentityOptions) {
    this.#world = world
    this.#content = content
    this.#texts = texts
    this.#rest = rest
    this.#omit = omit ?? null
    this.#database = new Portrait(texts)
    this.#whole = new Portrait(texts)
    const fresh = (): Life => ({
      process: null,
      rest: null,
      inputs: [],
      portrait: new Portrait(texts),
      isOld: true,
    })
    this.#lives = world.nodes.map(fresh)
  }

  /**
   * Takes note of an event that fired, with all that it set off; null: a fault struck, and nothing fired. `deferred`:
   * its process stood still.
   */
  fired(event: WorldEvent | null, deferred: boolean): void {
    const { nodes, nowMs } = this.#world
    const { owner, label, about } = event ?? nothing
    if (owner === null) this.#databaseIsOld = true
    for (const [k, node] of nodes.entries()) {
      const life = this.#lives[k] as Life
      if (life.process !== node.process) {
        life.process = node.process
        life.rest = null
        life.inputs.length = 0
        life.inputs.push({ label: 'start', about: null, atMs: nowMs })
      } else if (owner === null || owner !== node.process || deferred) {
        continue
      } else {
        life.inputs.push({ label, about, atMs: nowMs })
      }
      life.isOld = true
      if (this.#rest && node.process) this.#restOf(node.process, life)
    }
  }

  /**
   * Which timer is whose is not said of two handlers at once: then it does not rest. What one handler is at is the
   * timer that it waits for.
   */
  #restOf(process: Incarnation, life: Life): void {
    if (!process.engine || process.paused || process.handlers.size > 1 || this.#isCalling(process)) return
    const state = restStateOf(process.engine)
    if (!state) return
    life.rest = state
    life.inputs.length = 0
  }

  #lifeOf(life: Life): Portrait {
    const { portrait } = life
    if (!life.isOld) return portrait
    life.isOld = false
    portrait.reset().value(life.rest)
    for (const { label, about, atMs } of life.inputs) {
      portrait.text(label)
      portrait.instant(atMs)
      if (about !== null) portrait.portrait(this.#aboutOf(about))
    }
    return portrait
  }

  /** Every call that is not over has its bound. */
  #isCalling(process: Incarnation): boolean {
    return this.#world.ahead.some(
      ({ owner, live, label }) => owner === process && live && label === 'call-bound',
    )
  }

  /** Fills `key` with 128 bits. */
  tell(key: Int32Array): void {
    const whole = this.#whole.reset()
    const { nodes, database } = this.#world
    if (this.#has('database')) whole.portrait(this.#databaseNow())
    if (this.#has('outage')) {
      whole.value(database.down?.how ?? null)
      whole.number(database.aheadMs)
    }
    for (const [k, node] of nodes.entries()) this.#node(whole, node, this.#lives[k] as Life)
    this.#ahead(whole)
    if (this.#has('monitors')) this.#monitorsOn(whole)
    const names = this.#relate(whole)
    if (this.#has('claims')) this.#claims(whole, names)
    key[0] = whole.a
    key[1] = whole.b
    key[2] = whole.c
    key[3] = whole.d
  }

  #has(component: Component): boolean {
    return this.#omit !== component
  }

  #databaseNow(): Portrait {
    if (this.#databaseIsOld) databaseOf(this.#content(), this.#database.reset())
    this.#databaseIsOld = false
    return this.#database
  }

  #node(whole: Portrait, { incarnations, process }: SimNode, life: Life): void {
    if (this.#has('restarts')) whole.mix(incarnations)
    whole.mix(process === null ? 0 : process.paused ? 1 : process.stopping ? 2 : 3)
    if (process === null) return
    if (this.#has('nodes')) whole.portrait(this.#lifeOf(life))
    if (!this.#has('deferred')) return
    whole.mix(process.deferred.length)
    for (const { label, about } of process.deferred) this.#event(whole, label, about)
  }

  /** Everything that is pending, in the order in which it would fire. */
  #ahead(whole: Portrait): void {
    const { ahead, nowMs } = this.#world
    for (let k = ahead.length - 1; k >= 0; k--) {
      const { live, owner, node, atMs, label, about } = ahead[k] as WorldEvent
      // What a dead process was to get does nothing.
      if (!live || (owner !== null && !owner.alive)) continue
      const message = about !== null && typeof about === 'object'
      if (!this.#has(message ? 'messages' : owner ? 'timers' : 'environment')) continue
      whole.mix(node)
      whole.mix(atMs - nowMs)
      this.#event(whole, label, about)
    }
    whole.mix(0x0fc19dc6)
  }

  #event(whole: Portrait, label: string, about: unknown): void {
    whole.text(label)
    if (about === null) return
    whole.portrait(this.#aboutOf(about))
    if (typeof about !== 'object') return
    const { owner, generation } = about as Message
    whole.mix(owner.number * 2 + Number(owner.alive))
    whole.mix(generation === null ? 2 : Number(generation === this.#world.database.generation))
  }

  #aboutOf(about: unknown): Portrait {
    if (typeof about !== 'object' || about === null) {
      const portrait = new Portrait(this.#texts)
      portrait.value(about)
      return portrait
    }
    let portrait = this.#messages.get(about)
    if (!portrait) {
      const { what, owner, call, content } = about as Message
      portrait = new Portrait(this.#texts)
      portrait.text(what)
      portrait.mix(owner.node.index)
      portrait.text(call)
      portrait.value(content)
      this.#messages.set(about, portrait)
    }
    return portrait
  }

  #monitorsOn(whole: Portrait): void {
    for (const [k, { state, steps }] of this.#world.recorder.monitors.entries()) {
      const known = (this.#monitors[k] ??= { steps: -1, portrait: new Portrait(this.#texts) })
      if (known.steps !== steps) known.portrait.reset().value(state)
      known.steps = steps
      whole.portrait(known.portrait)
    }
  }

  /** Mixes in when things are, from now, and which names are the same; answers the names in the order of their places. */
  #relate(whole: Portrait): string[] {
    const { nowMs } = this.#world
    for (const atMs of whole.instants) whole.number(atMs - nowMs)
    const names: string[] = []
    for (const name of whole.names) {
      let place = names.indexOf(name)
      if (place < 0) place = names.push(name) - 1
      whole.mix(place)
    }
    return names
  }

  /** Headers of claims that something still names: whether they are there, and void. The others leave no trace. */
  #claims(whole: Portrait, names: readonly string[]): void {
    const content = this.#content()
    for (const [place, name] of names.entries()) {
      const claim = content.claims.get(name)
      if (!claim) continue
      whole.mix(place)
      whole.mix(claim.worker === null ? -1 : names.indexOf(claim.worker))
      for (const { spec } of jobsUnder(content, name)) whole.text(spec.id)
    }
  }
}
