import { type Case, document, passes, suite, whole } from '../junit.ts'
import { type ExploreReport, type ExploredTopology, boundOf } from './report.ts'
import { failureTextOf } from './text.ts'

/**
 * What a CI server shows of `explore`: a test case for each topology, and one for the run, which also fails where an
 * invariant was evaluated in none of them.
 */
export function exploreJunit(report: ExploreReport): string {
  const { verdict, explored } = report
  const wallMs = explored.reduce((all, { result }) => all + result.wallMs, 0)
  return document(`holdfast explore: ${verdict}`, wallMs, [
    suite(
      'topologies',
      explored.map((one) => topology(one, report)),
    ),
    suite('the run', [whole(report)]),
  ])
}

function topology(one: ExploredTopology, report: ExploreReport): Case {
  const { failure, result } = one
  const about = passes(one.topology.name, 'topologies')
  if (failure) {
    const ends = failure.kind === 'violated' ? 'failure' : 'error'
    const message = `${failure.property}: ${failure.message}`
    return { ...about, ends, message, text: failureTextOf(one, report).join('\n') }
  }
  const vacuous = result.properties.every(({ evaluations }) => evaluations === 0)
  if (!result.complete)
    return { ...about, ends: 'error', message: 'not all schedules within the bound were walked' }
  return vacuous
    ? { ...about, ends: 'error', message: 'no invariant was ever evaluated', text: boundOf(one) }
    : about
}
