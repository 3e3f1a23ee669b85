import type { Content } from '../../stores/memory/content.ts'
import { jobsUnder } from '../../stores/memory/claims.ts'
import type { WorldEvent } from '../clock/queue.ts'
import type { Message } from '../faults/wire.ts'
import type { SimNode } from '../node.ts'
import type { World } from '../world.ts'
import { Contents } from './contents.ts'
import { databaseOf } from './database.ts'
import { Life, type LifeOptions } from './life.ts'
import { Portrait, type Texts, requestName } from './portrait.ts'

/**
 * What the identity of a state is made of, and `time`: that what was met later does not stand for what is met earlier.
 * One can be left out, to see that it is missed.
 */
export const components = [
  'database',
  'claims',
  'inserts',
  'nodes',
  'restarts',
  'deferred',
  'messages',
  'timers',
  'environment',
  'monitors',
  'time',
] as const
export type Component = (typeof components)[number]

export interface IdentityOptions extends LifeOptions {
  readonly omit?: Component
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
  readonly #omit: Component | null
  readonly #contents: Contents
  readonly #lives: readonly Life[]
  readonly #monitors: { steps: number; readonly portrait: Portrait }[] = []
  readonly #database: Portrait
  readonly #whole: Portrait
  #databaseIsOld = true

  constructor(world: World, content: () => Content, texts: Texts, options: IdentityOptions) {
    this.#world = world
    this.#content = content
    this.#texts = texts
    this.#omit = options.omit ?? null
    this.#database = new Portrait(texts)
    this.#whole = new Portrait(texts)
    this.#contents = new Contents(texts)
    this.#lives = world.nodes.map((node) => new Life(world, node, this.#contents, texts, options))
  }

  /**
   * Takes note of an event that fired, with all that it set off; null: a fault struck, and nothing fired. `deferred`:
   * its process stood still.
   */
  fired(event: WorldEvent | null, deferred: boolean): void {
    if (event === null || event.owner === null) this.#databaseIsOld = true
    for (const life of this.#lives) life.fired(event ?? nothing, deferred)
  }

  /** Fills `key` with 128 bits. */
  tell(key: Int32Array): void {
    const whole = this.#whole.reset()
    const { nodes } = this.#world
    if (this.#has('database')) whole.portrait(this.#databaseNow())
    for (const [k, node] of nodes.entries()) this.#node(whole, node, this.#lives[k] as Life)
    this.#ahead(whole)
    if (this.#has('monitors')) this.#monitorsOn(whole)
    const names = this.#relate(whole)
    if (this.#has('claims')) this.#claims(whole, names)
    if (this.#has('inserts')) this.#inserts(whole, names)
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
    if (this.#has('restarts')) whole.number(process.stoppedBy?.forMs ?? -1)
    if (this.#has('nodes')) whole.portrait(life.portrait())
    if (!this.#has('deferred')) return
    whole.mix(process.deferred.length)
    for (const event of process.deferred) this.#event(whole, event)
  }

  /** Everything that is pending, in the order in which it would fire: also what ends an outage, while there is one. */
  #ahead(whole: Portrait): void {
    const { ahead, nowMs } = this.#world
    for (let k = ahead.length - 1; k >= 0; k--) {
      const event = ahead[k] as WorldEvent
      if (!isDue(event)) continue
      const { owner, node, atMs, about } = event
      const message = about !== null && typeof about === 'object'
      if (!this.#has(message ? 'messages' : owner ? 'timers' : 'environment')) continue
      whole.mix(node)
      whole.mix(atMs - nowMs)
      this.#event(whole, event)
    }
    whole.mix(0x0fc19dc6)
  }

  #event(whole: Portrait, event: WorldEvent): void {
    const { label, about } = event
    whole.text(label)
    whole.mix(this.#placeOf(event))
    if (about === null) return
    whole.portrait(this.#contents.of(about))
    if (typeof about !== 'object') return
    const { owner, generation } = about as Message
    whole.mix(owner.number * 2 + Number(owner.alive))
    whole.mix(generation === null ? 2 : Number(generation === this.#world.database.generation))
  }

  /**
   * Of all that its process waits for under that label, in the order in which it was made: what a timer belongs to is
   * told by nothing else.
   */
  #placeOf({ owner, label, made }: WorldEvent): number {
    if (owner === null) return 0
    let place = 0
    for (const other of this.#world.ahead) {
      if (other.owner === owner && other.made < made && other.label === label && other.live) place += 1
    }
    for (const other of owner.deferred) {
      if (other.made < made && other.label === label && other.live) place += 1
    }
    return place
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

  /**
   * Headers of claims that something still names: whether they are there, and void. Of the others only how many there
   * are to be removed.
   */
  #claims(whole: Portrait, names: readonly string[]): void {
    const content = this.#content()
    let spent = 0
    for (const { token, worker } of content.claims.values()) {
      if (worker !== null && jobsUnder(content, token).length === 0) spent += 1
    }
    whole.mix(spent)
    for (const [place, name] of names.entries()) {
      const claim = content.claims.get(name)
      if (!claim) continue
      whole.mix(place)
      whole.mix(claim.worker === null ? -1 : names.indexOf(claim.worker))
      for (const { spec } of jobsUnder(content, name)) whole.text(spec.id)
    }
  }

  /** Which jobs a request that is still under way has created: sent again, it is told so. */
  #inserts(whole: Portrait, names: readonly string[]): void {
    for (const id of this.#content().insertIds.values()) whole.mix(names.indexOf(requestName(id)))
  }
}

/** What a dead process was to get does nothing. */
function isDue({ live, owner }: WorldEvent): boolean {
  return live && (owner === null || owner.alive)
}
