import { epochMs } from '../clock/node-clock.ts'
import { hashText } from '../hash.ts'

/**
 * Plain data in 128 bits. What is the same in two states that differ only in when they are, or in how things are
 * called, stands apart: instants, and the names that processes give to claims and to themselves.
 */
export class Portrait {
  a = 0x243f6a88
  b: number = 0x85a308d3 | 0
  c = 0x13198a2e
  d = 0x03707344
  /** True times, in ms since the start of the run. */
  readonly instants: number[] = []
  readonly names: string[] = []
  readonly #texts: Texts

  constructor(texts: Texts) {
    this.#texts = texts
  }

  reset(): this {
    this.a = 0x243f6a88
    this.b = 0x85a308d3 | 0
    this.c = 0x13198a2e
    this.d = 0x03707344
    this.instants.length = 0
    this.names.length = 0
    return this
  }

  mix(x: number): void {
    this.a = Math.imul(this.a ^ x, 0x9e3779b1)
    this.b = Math.imul((this.b + this.a) ^ (x >>> 7), 0x85ebca77)
    this.c = Math.imul((this.c ^ (this.b >>> 15)) + x, 0xc2b2ae3d)
    this.d = Math.imul((this.d + (this.c >>> 13)) ^ (x << 5), 0x27d4eb2f)
    this.a ^= this.d >>> 16
  }

  number(value: number): void {
    if ((value | 0) === value) return this.mix(value)
    bits.setFloat64(0, value)
    this.mix(0x2f0b4a27)
    this.mix(bits.getInt32(0))
    this.mix(bits.getInt32(4))
  }

  /** Of the database or of the run; an endless one is no instant. */
  instant(atMs: number): void {
    if (!Number.isFinite(atMs)) return this.number(atMs)
    this.mix(0x41c64e6d)
    this.instants.push(atMs >= epochMs / 2 ? atMs - epochMs : atMs)
  }

  text(value: string): void {
    const { x, y, isName } = this.#texts.of(value)
    if (isName) {
      this.mix(0x6b43a9b5)
      this.names.push(value)
    } else {
      this.mix(x)
      this.mix(y)
    }
  }

  /** All that another one shows, its instants and names after those that are here. */
  portrait(other: Portrait): void {
    this.mix(other.a)
    this.mix(other.b)
    this.mix(other.c)
    this.mix(other.d)
    this.instants.push(...other.instants)
    this.names.push(...other.names)
  }

  /** `key`: under which it stands. */
  value(of: unknown, key = ''): void {
    switch (typeof of) {
      case 'number':
        return this.#texts.of(key).isInstant ? this.instant(of) : this.number(of)
      case 'string':
        return this.text(key === 'insertId' ? requestName(of) : of)
      case 'boolean':
        return this.mix(of ? 0x6a09e667 : 0x3c6ef372)
      case 'object':
        return of === null ? this.mix(0x1f83d9ab) : this.#items(of, key)
      default:
        return this.mix(0x5be0cd19)
    }
  }

  #items(of: object, key: string): void {
    // What a producer stated of a job is the same wherever it stands.
    if (key === 'spec') return this.text((of as { readonly id: string }).id)
    if (Array.isArray(of)) return this.#list(0x510e527f, of.length, of)
    if (of instanceof Set) return this.#list(0x2545f491, of.size, of)
    if (of instanceof Map) return this.#entries(of)
    this.mix(0x3587272b)
    for (const name in of) {
      this.text(name)
      this.value((of as Record<string, unknown>)[name], name)
    }
    this.mix(0x0fc19dc6)
  }

  #list(mark: number, length: number, items: Iterable<unknown>): void {
    this.mix(mark)
    this.mix(length)
    for (const item of items) this.value(item)
  }

  #entries(of: ReadonlyMap<unknown, unknown>): void {
    this.mix(0x7f4a7c15)
    this.mix(of.size)
    for (const [key, value] of of) {
      this.value(key)
      this.value(value)
    }
  }
}

/** Of a request to insert: those and commands are counted apart, so that one of each may be called alike. */
export function requestName(insertId: string): string {
  return `insert~${insertId}`
}

const bits = new DataView(new ArrayBuffer(8))

interface Known {
  readonly x: number
  readonly y: number
  readonly isName: boolean
  /** As a key: what stands under it is an instant. */
  readonly isInstant: boolean
}

/** What is known of each text that was met: the same few come by the million. */
export class Texts {
  readonly #known = new Map<string, Known>()

  of(text: string): Known {
    let known = this.#known.get(text)
    if (!known) {
      known = {
        x: hashText(text, 0x811c9dc5),
        y: hashText(text, 0x3c6ef372),
        isName: (text.includes('~') && !replays.test(text)) || counters.test(text),
        isInstant: instantKeys.has(text) || text.endsWith('AtMs'),
      }
      this.#known.set(text, known)
    }
    return known
  }
}

/** Ids that a process makes: its number, its incarnation, a count. */
const counters = /^\d+\.\d+\.\d+$/
/** The id of a replay says which, of which job: it is no name, though it looks like one. */
const replays = /~r\d+$/
/** Beside those that end in `AtMs`. A duration taken for an instant would make one state of two. */
const instantKeys: ReadonlySet<string> = new Set(['atMs', 'nowMs', 'lastReplyMs', 'seenSinceMs', 'expiresMs'])
