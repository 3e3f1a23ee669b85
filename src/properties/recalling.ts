import type { EventOf, HistoryType } from '../engine/history.ts'
import type { Property, Verdict } from './property.ts'

/**
 * A restored database holds what it held when the backup was made, and so must whoever compares it with what was done
 * to it. What the processes did stays done.
 */
interface Memory {
  now: Record<string, unknown>
  /** What is recalled, as it was when the backup was made. */
  backup: Record<string, unknown>
}

const restoring = ['database.backedUp', 'database.restored'] as const

/** The same property, with a state that goes back with the database. */
export function recalling(definition: Property): Property {
  const { on, recalls = [], forgets = [] } = definition
  const first = (): Record<string, unknown> => definition.start() as Record<string, unknown>

  /** Together, so that what they share they share in the copy. */
  const kept = (state: Record<string, unknown>): Record<string, unknown> =>
    structuredClone(recalls === 'all' ? state : picked(state, recalls))

  function restore(memory: Memory): void {
    const copy = structuredClone(memory.backup)
    if (recalls === 'all') memory.now = copy
    else Object.assign(memory.now, copy, picked(first(), forgets))
  }

  return {
    ...definition,
    on: [...new Set<HistoryType>([...on, ...restoring])],
    start: (): Memory => ({ now: first(), backup: kept(first()) }),
    step(state, event, verdict: Verdict) {
      const memory = state as Memory
      if (event.type === 'database.backedUp') memory.backup = kept(memory.now)
      else if (event.type === 'database.restored') restore(memory)
      if (isOn(on, event)) definition.step(memory.now, event, verdict)
    },
  }
}

/** Only these two may be of no interest to the property itself. */
function isOn(on: readonly HistoryType[], { type }: EventOf<HistoryType>): boolean {
  return (type !== 'database.backedUp' && type !== 'database.restored') || on.includes(type)
}

function picked(from: Record<string, unknown>, keys: readonly PropertyKey[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, from[key as string]]))
}
