import type { Failure } from '../sim/tally.ts'
import { replayCommand, replayPath } from './command.ts'
import { inertJson } from './format.ts'
import type { Report } from './report.ts'
import { textReport } from './text.ts'

/** The one object that `--json` prints; its shape is part of the public face. */
export function jsonReport(report: Report): string {
  const { summary } = report
  return inertJson({
    command: report.command,
    version: report.version,
    engine: report.engine,
    store: report.store,
    verdict: report.verdict,
    reasons: report.reasons,
    firstSeed: report.firstSeed,
    seeds: summary.seeds,
    events: summary.events,
    traceHash: summary.traceHash,
    simulatedMs: summary.simulatedMs,
    wallMs: report.wallMs,
    scenarios: summary.scenarios,
    faults: summary.faults,
    coverage: summary.coverage,
    matrix: summary.matrix,
    properties: summary.properties.map(({ name, kind, evaluations, violations, reached, suspended }) => ({
      name,
      kind,
      evaluations,
      violations,
      reached,
      suspended,
    })),
    failures: summary.failures.map((failure) => failureJson(failure, report)),
    unreached: summary.unreached,
    // What `holdfast report` prints, as it was told then.
    text: textReport(report),
  })
}

function failureJson(failure: Failure, report: Report): object {
  const { kind, property, seed, scenario, message, result } = failure
  return {
    kind,
    property,
    seed,
    scenario,
    message,
    shrunk: result?.shrunk && {
      faults: result.plan.length,
      ofFaults: result.shrunk.faults,
      steps: result.steps - result.without.length,
      ofSteps: result.shrunk.steps,
      runs: result.shrunk.runs,
      wallMs: result.shrunk.wallMs,
      minimal: result.shrunk.minimal,
      also: result.shrunk.also,
    },
    replay: replayPath(failure, report),
    command: replayCommand(failure, report),
  }
}
