import { count, inert, plural, seconds, table } from '../format.ts'
import { failureText } from '../text.ts'
import {
  type ExploreReport,
  type ExploredTopology,
  boundOf,
  collisionOf,
  contextOf,
  endOf,
  speedOf,
} from './report.ts'

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
        { title: 'a second', right: true },
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

function row(one: ExploredTopology): string[] {
  const { topology, result } = one
  const { level, runs, states, distinct, pruned, depthMax, wallMs } = result
  return [
    inert(topology.name),
    String(level),
    count(runs),
    count(states),
    count(distinct),
    count(pruned),
    `<= ${count(depthMax)}`,
    speedOf(result),
    seconds(wallMs),
    endOf(one),
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

function failed(one: ExploredTopology, report: ExploreReport): string[] {
  const text = failureTextOf(one, report)
  return text.length === 0 ? [] : [...text, '']
}

/** The counterexample, with the command that shows it again; nothing where there is none. */
export function failureTextOf(one: ExploredTopology, report: ExploreReport): string[] {
  const { failure, result } = one
  if (!failure) return []
  const { version, engine } = report
  const found = result.found?.deviations.length ?? 0
  const least = `  it takes ${plural(found, 'deviation')} from the default schedule, and no fewer will do`
  return [
    ...failureText(failure, { version, engine, ...contextOf(one, report) }),
    ...(failure.kind === 'violated' && found > 0 ? [least] : []),
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
