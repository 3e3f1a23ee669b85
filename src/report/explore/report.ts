import type { Explored } from '../../sim/explore/explore.ts'
import type { Topology } from '../../sim/explore/topology.ts'
import type { Failure } from '../../sim/tally.ts'
import type { CommandContext } from '../command.ts'
import { count, plural } from '../format.ts'
import type { Verdict } from '../report.ts'
import { tagOf } from '../text.ts'

/** What one topology was explored to, and what was found. */
export interface ExploredTopology {
  readonly topology: Topology
  /** The bound that was asked for. */
  readonly deviations: number
  readonly result: Explored
  readonly failure: Failure | null
  readonly replay: string | null
}

/** Everything that one `explore` found out. */
export interface ExploreReport {
  readonly version: string
  readonly engine: string
  readonly module: string | null
  readonly explored: readonly ExploredTopology[]
  readonly verdict: Verdict
  readonly reasons: readonly string[]
}

/** What the command that shows the failure of one of them again is made of. */
export function contextOf({ failure, replay }: ExploredTopology, { module }: ExploreReport): CommandContext {
  const replays =
    failure && replay !== null ? [{ seed: failure.seed, property: failure.property, path: replay }] : []
  return { module, store: 'memory', families: null, replays }
}

export function verdictOfExplored(
  explored: readonly ExploredTopology[],
): Pick<ExploreReport, 'verdict' | 'reasons'> {
  const failures = explored.flatMap(({ failure }) => failure ?? [])
  if (failures.some(({ kind }) => kind === 'nondeterministic' || kind === 'diverged')) {
    return { verdict: 'nondeterministic', reasons: [] }
  }
  if (failures.length > 0) return { verdict: 'violated', reasons: [] }
  const reasons = [
    ...explored.flatMap(({ topology: { name }, result: { complete, properties } }) => [
      ...(complete ? [] : [`${name}: not all schedules within the bound were walked`]),
      ...(properties.some(({ evaluations }) => evaluations > 0)
        ? []
        : [`${name}: no invariant was ever evaluated`]),
    ]),
    ...neverEvaluated(explored).map((name) => `${name} was never evaluated`),
  ]
  return { verdict: reasons.length > 0 ? 'inconclusive' : 'pass', reasons }
}

/** Invariants that none of the topologies which judge them put to the test. */
function neverEvaluated(explored: readonly ExploredTopology[]): string[] {
  const sums = new Map<string, number>()
  for (const { name, evaluations } of explored.flatMap(({ result }) => result.properties))
    sums.set(name, (sums.get(name) ?? 0) + evaluations)
  return [...sums].flatMap(([name, evaluations]) => (evaluations === 0 ? [name] : []))
}

/** In the words of somebody who wants to know what was proven. */
export function boundOf({ topology, deviations }: Pick<ExploredTopology, 'topology' | 'deviations'>): string {
  const { workers, sweepers, work, horizonMs, faults } = topology
  const parts = [
    plural(workers, 'worker'),
    ...(sweepers > 0 ? [`${plural(sweepers, 'sweeper')} apart`] : []),
    plural(work.length, 'job'),
    `${horizonMs / 1_000} s`,
    `at most ${plural(deviations, 'deviation')} of {${optionsOf(faults)}}`,
  ]
  return parts.join(', ')
}

function optionsOf(faults: Topology['faults']): string {
  const lengths = new Map<string, Set<number>>()
  for (const { family, forMs } of faults) {
    const known = lengths.get(family) ?? new Set()
    if (forMs !== undefined) known.add(forMs / 1_000)
    lengths.set(family, known)
  }
  const told = [...lengths].map(([family, known]) =>
    known.size === 0 ? family : `${family} (${[...known].join(', ')} s)`,
  )
  return ['another order within an instant', ...told].join(', ')
}

/** That two of them were taken for one by chance: of all pairs, one in 2^128. */
export function collisionOf(distinct: number): string {
  return `< 10^${Math.ceil(Math.log10(Math.max(1, distinct) ** 2 / 2) - 128 * Math.log10(2))}`
}

/** New ground a second: steps that lead to where a schedule leaves another are not among them. */
export function speedOf({ states, wallMs }: Pick<Explored, 'states' | 'wallMs'>): string {
  return count((1_000 * states) / Math.max(1, wallMs))
}

/** What became of one of them, in a word or two. */
export function endOf({ failure, result }: Pick<ExploredTopology, 'failure' | 'result'>): string {
  if (failure) return tagOf(failure) === 'FAIL' ? 'violated' : tagOf(failure).toLowerCase()
  return result.complete ? 'bounded-complete' : 'not complete'
}
