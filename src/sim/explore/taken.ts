import type { WorldEvent } from '../clock/queue.ts'
import { messageOf } from './deviations.ts'
import type { Deviation } from './topology.ts'

/** A deviation as it was taken in a walk, with what it met: plain data, for people. */
export interface Taken {
  readonly deviation: Deviation
  readonly atMs: number
  /** What would have happened next by default. */
  readonly next: Pending
  /** What went first in its place; null: nothing did. */
  readonly first: Pending | null
}

/** An event that was pending. */
export interface Pending {
  /** Whose; null: of the environment. */
  readonly node: string | null
  readonly what: 'request' | 'reply' | 'timer' | 'environment'
  /** The call of the message, or what it is named. */
  readonly label: string
}

export function pendingOf(event: WorldEvent): Pending {
  const message = messageOf(event)
  if (message) return { node: message.owner.node.name, what: message.what, label: message.call }
  const { owner, label } = event
  return { node: owner?.node.name ?? null, what: owner ? 'timer' : 'environment', label }
}
