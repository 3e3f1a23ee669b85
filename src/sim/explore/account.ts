import type { HistoryEvent } from '../../engine/history.ts'
import { epochMs } from '../clock/node-clock.ts'
import type { WorldEvent } from '../clock/queue.ts'
import { messageOf } from './deviations.ts'
import { requestName } from './portrait.ts'

/**
 * What happens from an instant on, told so that two runs that differ only in when that is, and in how things are
 * called, tell the same: times count from it, names by the order in which they come up.
 */
export class Account {
  readonly #fromMs: number
  readonly #names = new Map<string, string>()

  constructor(fromMs: number) {
    this.#fromMs = fromMs
  }

  of(event: HistoryEvent): string {
    return this.#text({ ...event, ...(event.type === 'fault.struck' && { fault: '' }) })
  }

  /** An event that is next, with what it carries. */
  ofStep(event: WorldEvent): string {
    const message = messageOf(event)
    const content = message ? message.content : event.about
    const who = event.owner ? event.owner.who : 'world'
    return `+${event.atMs - this.#fromMs} ms ${who} ${message?.what ?? ''} ${message?.call ?? event.label} ${this.#text(content)}`
  }

  #text(value: unknown): string {
    const plain = JSON.stringify(value, (key, item: unknown) => this.#item(key, item)) ?? ''
    return plain.replaceAll(names, (name) => this.#named(name))
  }

  #item(key: string, item: unknown): unknown {
    // What a producer stated of a job is the same wherever it stands.
    if (key === 'spec') return (item as { readonly id: string }).id
    if (key === 'insertId') return requestName(String(item))
    if (shown.has(key)) return item === null ? null : 'some time'
    if (typeof item !== 'number') return item
    if (item >= epochMs / 2) return `+${item - epochMs - this.#fromMs}`
    return key === 'atMs' ? `+${item - this.#fromMs}` : item
  }

  #named(name: string): string {
    let known = this.#names.get(name)
    if (known === undefined) this.#names.set(name, (known = `<${this.#names.size}>`))
    return known
  }
}

/** Ids that processes make: of themselves, of their claims, and plain ones. */
const names = /(?:[\w-]+~)?\b\d+\.\d+\.\d+(?:\.\d+)?\b/g
/** Times that decide nothing, and what is only shown. */
const shown: ReadonlySet<string> = new Set([
  'createdAtMs',
  'updatedAtMs',
  'finishedAtMs',
  'cancelRequestedAtMs',
  'deadAtMs',
  'events',
])
