import type { EngineEvent, HistoryEvent, StoreEvent, WorldEvent } from '../../../src/engine/history.ts'
import type { Property } from '../../../src/properties/property.ts'
import type { Incarnation } from '../../../src/sim/node.ts'
import { type PropertyTally, type Violation, createRecorder } from '../../../src/sim/recorder.ts'

export interface Judgement {
  readonly violations: readonly Violation[]
  readonly tallies: readonly PropertyTally[]
  /** How often the property was evaluated. */
  evaluations(property: Property): number
}

/** Feeds what was recorded of real processes to the properties, by the recorder that the simulation has. */
export function judge(history: readonly HistoryEvent[], properties: readonly Property[]): Judgement {
  let nowMs = 0
  const { happened, tallies, violations } = createRecorder({
    properties,
    keepStory: false,
    now: () => nowMs,
    watch: () => {},
  })
  for (const { atMs, node, incarnation, ...event } of history) {
    nowMs = atMs
    const owner = { node: { name: node, index: 0 }, number: incarnation, alive: true } as Incarnation
    happened(node === 'env' ? null : owner, event as unknown as EngineEvent | (WorldEvent & StoreEvent))
  }
  return {
    violations,
    tallies,
    evaluations: ({ name }) => tallies.find((tally) => tally.name === name)?.evaluations ?? 0,
  }
}
