import { type RestState, restStateOf } from '../../engine/rest-state.ts'
import type { WorldEvent } from '../clock/queue.ts'
import type { Message } from '../faults/wire.ts'
import type { Incarnation, SimNode } from '../node.ts'
import type { World } from '../world.ts'
import type { Contents } from './contents.ts'
import { Portrait, type Texts } from './portrait.ts'

interface Input {
  readonly label: string
  readonly about: unknown
  readonly atMs: number
}

/** What counts of that which a process at rest says of itself. */
export type Heeded = (rest: NonNullable<RestState>) => RestState

export interface LifeOptions {
  /** Take a process that rests for what it says of itself, not for all that it ever met. Default true. */
  readonly rest?: boolean
  /** Default: all of it. Something can be left out, to see that it is missed. */
  readonly heeded?: Heeded
}

const all: Heeded = (rest) => rest

/** A process as the sum of its inputs since it started, or since it last rested. */
export class Life {
  readonly #world: World
  readonly #node: SimNode
  readonly #contents: Contents
  /** Whether a process that rests is taken for what it says of itself, and what of it counts. */
  readonly #rests: boolean
  readonly #heeded: Heeded
  readonly #inputs: Input[] = []
  /** Of its requests, those that are no secret any more. */
  readonly #known = new WeakSet<object>()
  /** What it asked for since. */
  readonly #asked: Message[] = []
  readonly #portrait: Portrait
  #process: Incarnation | null = null
  /** Null: it has not rested yet. */
  #rest: RestState = null
  /** The portrait is drawn when somebody looks at it. */
  #isOld = true

  constructor(world: World, node: SimNode, contents: Contents, texts: Texts, options: LifeOptions) {
    this.#world = world
    this.#node = node
    this.#contents = contents
    this.#rests = options.rest ?? true
    this.#heeded = options.heeded ?? all
    this.#portrait = new Portrait(texts)
  }

  /** Takes note of an event that fired, with all that it set off. */
  fired({ owner, label, about }: Pick<WorldEvent, 'owner' | 'label' | 'about'>, deferred: boolean): void {
    const { process } = this.#node
    const { nowMs: atMs } = this.#world
    if (this.#process !== process) {
      this.#process = process
      this.#began(null)
      this.#inputs.push({ label: 'start', about: null, atMs })
    } else if (owner === null || owner !== process || deferred) {
      return
    } else {
      this.#inputs.push({ label, about, atMs })
    }
    this.#isOld = true
    if (!process) return
    this.#heard(process)
    const rest = this.#rests ? this.#restOf(process) : null
    if (rest) this.#began(rest)
  }

  #began(rest: RestState): void {
    this.#rest = rest
    this.#inputs.length = 0
    this.#asked.length = 0
  }

  /** It keeps the names that it gave to what it asks for, also where the request is lost: rows may bear them. */
  #heard(process: Incarnation): void {
    for (const { about } of this.#world.ahead) {
      if (about === null || typeof about !== 'object' || this.#known.has(about)) continue
      const message = about as Message
      if (message.owner !== process || message.what !== 'request') continue
      this.#known.add(about)
      this.#asked.push(message)
    }
  }

  /** What its handler is at is the timer that it waits for. */
  #restOf(process: Incarnation): RestState {
    if (!process.engine || process.paused || this.#isCalling(process)) return null
    const rest = restStateOf(process.engine)
    return rest && this.#heeded(rest)
  }

  /** Every call that is not over has its bound. */
  #isCalling(process: Incarnation): boolean {
    return this.#world.ahead.some(
      ({ owner, live, label }) => owner === process && live && label === 'call-bound',
    )
  }

  portrait(): Portrait {
    const portrait = this.#portrait
    if (!this.#isOld) return portrait
    this.#isOld = false
    portrait.reset().value(this.#rest)
    for (const { label, about, atMs } of this.#inputs) {
      portrait.text(label)
      portrait.instant(atMs)
      if (about !== null) portrait.portrait(this.#contents.of(about))
    }
    for (const message of this.#asked) portrait.names.push(...this.#contents.of(message).names)
    return portrait
  }
}
