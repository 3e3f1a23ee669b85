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

/** The topologies of a module: its default export, one or several; null: ours. */
export async function topologiesIn(url: string | null): Promise<readonly Topology[]> {
  if (url === null) return topologies
  const { default: exported } = (await import(url)) as { readonly default?: Topology | readonly Topology[] }
  if (exported === undefined) throw new InvalidArgument(`${url} has no default export`)
  return [exported].flat() as readonly Topology[]
}
