import { replayCommand } from '../command.ts'
import { deviationsOf } from './deviation.ts'
import { type ExploreReport, type ExploredTopology, boundOf, contextOf } from './report.ts'
import { exploreText } from './text.ts'

/** For machines. The sums are over all topologies. */
export function exploreJson(report: ExploreReport): object {
  const { version, engine, verdict, reasons, explored } = report
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
      return {
        name: one.topology.name,
        bound: boundOf(one),
        deviations: one.deviations,
        ...counts,
        violatedBy: found?.deviations ?? null,
        replay: one.replay,
      }
    }),
    failures: explored.flatMap((one) => {
      if (!one.failure) return []
      const { kind, property, scenario, message, result } = one.failure
      const deviations = result ? deviationsOf(result) : []
      const command = replayCommand(one.failure, contextOf(one, report))
      return [{ kind, property, scenario, message, deviations, replay: one.replay, command }]
    }),
    // What `holdfast report` prints, as it was told then.
    text: exploreText(report),
  }
}
