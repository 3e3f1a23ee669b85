import { InvalidArgument } from '../../../engine/errors.ts'
import type { Topology } from '../topology.ts'
import { standard } from './standard.ts'

export const topologies: readonly Topology[] = [standard]

/** Throws `InvalidArgument` where there is none of that name. */
export function topologyNamed(name: string, known: readonly Topology[]): Topology {
  const topology = known.find((candidate) => candidate.name === name)
  if (topology) return topology
  throw new InvalidArgument(
    `there is no topology ${name}; there are ${known.map((other) => other.name).join(', ')}`,
  )
}

/** Those among the scenarios that a module exports. */
export function isTopology(value: unknown): value is Topology {
  return typeof value === 'object' && value !== null && 'horizonMs' in value
}
