import type { Judged, RunRequest } from '../judge.ts'
import type { Failure } from '../tally.ts'
import type { Deviation, Size } from './topology.ts'

/** What asks for one schedule of a topology again, for its story. */
export function scheduleRequest(
  topology: string,
  deviations: readonly Deviation[],
  size: Size = {},
): RunRequest {
  return {
    seed: '0x0',
    scenario: topology,
    store: 'memory',
    families: null,
    verify: false,
    story: true,
    plan: null,
    draws: null,
    deviations,
    size,
  }
}

/** The schedule that was found, as a failure like those of seeds. */
export function counterexampleOf(result: Judged): Failure {
  const [first] = result.violations
  const kind = result.verdict === 'pass' ? 'diverged' : result.verdict
  const violated = kind === 'violated' && first
  return {
    kind,
    seed: result.seed,
    scenario: result.scenario,
    property: violated ? first.property : kind,
    message: violated
      ? first.message
      : (result.detail ?? 'the schedule that was found violates nothing when it is walked again'),
    result,
  }
}
