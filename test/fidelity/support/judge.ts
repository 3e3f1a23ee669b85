import type { EngineEvent, HistoryEvent, StoreEvent, WorldEvent } from '../../../src/engine/history.ts'
import type { Property } from '../../../src/properties/property.ts'
import type { Incarnation } from '../../../src/sim/node.ts'
import { type PropertyTally, type Violation, createRecorder } from '../../../src/sim/recorder.ts'

export interface Judgement {
  readonly violations: readonly Violation[]
  readonly tallies: readonly PropertyTally[]
}

/** Feeds what was recorded of real processes to the properties, by the recorder that the simulation has. */
export function judge(history: readonly HistoryEvent[], properties: readonly Property[]): Judgement {
  let nowMs = 0
  const recorder = createRecorder({
    properties,
    keepStory: false,
    now: () => nowMs,
    watch: () => {},
  })
  for (const { atMs, node, incarnation, ...event } of history) {
    nowMs = atMs
    const owner = { node: { name: node, index: 0 }, number: incarnation, alive: true } as Incarnation
    recorder.happened(
      node === 'env' ? null : owner,
      event as unknown as EngineEvent | (WorldEvent & StoreEvent),
    )
  }
  const { violations, tallies } = recorder
  return { violations, tallies }
}
