import { type ExploreReport, type ExploredTopology, boundOf } from './report.ts'

/** For machines. The sums are over all topologies. */
export function exploreJson({ version, engine, verdict, reasons, explored }: ExploreReport): object {
  const sum = (of: (one: ExploredTopology) => number): number =>
    explored.reduce((all, one) => all + of(one), 0)
  return {
    command: 'explore',
    version,
    engine,
    verdict,
    reasons,
    states: sum(({ result }) => result.states),
    distinct: sum(({ result }) => result.distinct),
    pruned: sum(({ result }) => result.pruned),
    runs: sum(({ result }) => result.runs),
    depthMax: Math.max(0, ...explored.map(({ result }) => result.depthMax)),
    deviations: Math.min(...explored.map(({ result }) => result.level)),
    complete: explored.every(({ result }) => result.complete),
    wallMs: sum(({ result }) => result.wallMs),
    topologies: explored.map((one) => {
      const { found, ...counts } = one.result
      const deviations = found?.deviations ?? null
      return {
        name: one.topology.name,
        bound: boundOf(one),
        ...counts,
        violatedBy: deviations,
        replay: one.replay,
      }
    }),
    failures: explored.flatMap(({ failure, replay }) =>
      failure
        ? [{ property: failure.property, scenario: failure.scenario, message: failure.message, replay }]
        : [],
    ),
  }
}
