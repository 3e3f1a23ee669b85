import type { Topology } from '../../../../src/sim/explore/topology.ts'
import { small } from '../support.ts'
import { type Stroke, faultsOf } from './strokes.ts'

/** Two schedules that come to states which differ in one thing alone. */
export interface Pair {
  /** What that decides, and how the two come to differ in it. */
  readonly says: string
  readonly topology: Topology
  readonly one: readonly Stroke[]
  readonly other: readonly Stroke[]
}

export function pair(
  says: string,
  over: Partial<Topology>,
  one: readonly Stroke[],
  other: readonly Stroke[],
): Pair {
  return { says, topology: small({ faults: faultsOf([...one, ...other]), ...over }), one, other }
}
