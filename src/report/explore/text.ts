import { count, inert, seconds, table } from '../format.ts'
import { failureText } from '../text.ts'
import { type ExploreReport, type ExploredTopology, boundOf, collisionOf } from './report.ts'

/** What a person reads after `explore`. */
export function exploreText(report: ExploreReport): string {
  const { explored, version, engine } = report
  const lines = [
    `holdfast ${version}  explore  (engine ${engine})`,
    '',
    ...table(
      [
        { title: 'topology' },
        { title: 'deviations', right: true },
        { title: 'schedules', right: true },
        { title: 'states', right: true },
        { title: 'distinct', right: true },
        { title: 'pruned', right: true },
        { title: 'steps', right: true },
        { title: 'time', right: true },
        { title: '' },
      ],
      explored.map(row),
    ),
    '',
    ...explored.flatMap((one) => proof(one)),
    ...explored.flatMap((one) => failed(one, report)),
    ...verdict(report),
  ]
  return `${lines.join('\n')}\n`
}

function row({ topology, result, failure }: ExploredTopology): string[] {
  const { level, runs, states, distinct, pruned, depthMax, wallMs, complete } = result
  return [
    inert(topology.name),
    String(level),
    count(runs),
    count(states),
    count(distinct),
    count(pruned),
    `<= ${count(depthMax)}`,
    seconds(wallMs),
    failure ? 'VIOLATED' : complete ? 'bounded-complete' : 'not complete',
  ]
}

function proof(one: ExploredTopology): string[] {
  const { topology, result } = one
  if (!result.complete) return []
  return [
    `bounded-complete: ${inert(topology.name)}: ${boundOf(one)}`,
    `  ${count(result.distinct)} states, collision probability ${collisionOf(result.distinct)}; ${evaluated(one)}`,
    '',
  ]
}

function evaluated({ result: { properties } }: ExploredTopology): string {
  return `evaluated: ${properties.map(({ name, evaluations }) => `${name} ${count(evaluations)}`).join(', ')}`
}

function failed(
  { failure, replay, result }: ExploredTopology,
  { version, engine, module }: ExploreReport,
): string[] {
  if (!failure) return []
  const { seed, property } = failure
  const replays = replay === null ? [] : [{ seed, property, path: replay }]
  const found = result.found?.deviations.length ?? 0
  return [
    ...failureText(failure, { version, engine, module, store: 'memory', families: null, replays }),
    `  it takes ${found} deviation${found === 1 ? '' : 's'} from the default schedule, and no fewer will do`,
    '',
  ]
}

function verdict({ verdict: is, reasons }: ExploreReport): string[] {
  if (is === 'pass') return ['PASS  no schedule within the bound violates an invariant']
  if (is === 'inconclusive') {
    return ['INCONCLUSIVE  this is no proof:', ...reasons.map((reason) => `  - ${inert(reason)}`)]
  }
  return [
    is === 'violated'
      ? 'FAIL'
      : 'NONDETERMINISTIC  the same schedule may run otherwise: neither pass nor fail',
  ]
}
