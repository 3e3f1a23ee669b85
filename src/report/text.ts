import type { Failure } from '../sim/tally.ts'
import { count, inert, longTime, plural, quoted, seconds, table } from './format.ts'
import type { Report } from './report.ts'
import type { RunResult } from '../sim/run.ts'
import { storyLine, storyOf } from './story.ts'

const failuresShown = 5

/** The summary that a person reads after `simulate`. */
export function textReport(report: Report): string {
  const { summary, wallMs } = report
  const ran =
    report.seedsAsked === null
      ? count(summary.seeds)
      : `${count(summary.seeds)} of ${count(report.seedsAsked)}`
  const lines = [
    `holdfast ${report.version}  ${report.command}  (engine ${report.engine}, store ${report.store}, first seed ${report.firstSeed})`,
    '',
    `  seeds      ${ran}, over ${plural(Object.keys(summary.scenarios).length, 'scenario')}`,
    `  simulated  ${longTime(summary.simulatedMs)} in ${seconds(wallMs)}: ${count(summary.simulatedMs / Math.max(1, wallMs))} x real time`,
    `  events     ${count(summary.events)}, ${count((summary.events / Math.max(1, wallMs)) * 1000)} a second`,
    `  trace      ${summary.traceHash}`,
    '',
    ...table(
      [{ title: 'fault family' }, { title: 'struck', right: true }],
      Object.entries(summary.faults).map(([family, struck]) => [family, count(struck)]),
    ),
    '',
    ...properties(report),
    '',
    ...failures(report),
    ...verdict(report),
  ]
  return `${lines.join('\n')}\n`
}

function properties({ summary }: Report): string[] {
  const sometimes = summary.properties.filter(({ kind, applicable }) => kind === 'sometimes' && applicable)
  const reached = sometimes.filter((property) => property.reached).length
  return [
    ...table(
      [
        { title: 'invariant' },
        { title: 'kind' },
        { title: 'evaluated', right: true },
        { title: 'violated', right: true },
      ],
      summary.properties
        .filter(({ kind }) => kind !== 'sometimes')
        .map(({ name, kind, evaluations, violations, applicable }) => [
          name,
          kind,
          applicable || evaluations > 0 ? count(evaluations) : 'n/a',
          violations ? count(violations) : '-',
        ]),
    ),
    '',
    `  reached at least once: ${reached} of ${sometimes.length} interesting events`,
    ...(summary.unreached.length > 0 ? [`  never reached: ${summary.unreached.join(', ')}`] : []),
  ]
}

function failures(report: Report): string[] {
  const { failures: all } = report.summary
  const { seedsAsked } = report
  const lines = all.slice(0, failuresShown).flatMap((failure) => [...failureText(failure, report), ''])
  if (all.length > failuresShown)
    lines.push(`  and ${count(all.length - failuresShown)} more failing seeds`, '')
  if (all.length > 0 && seedsAsked !== null && report.summary.seeds < seedsAsked)
    lines.push(`  no more seeds were dealt after ${count(all.length)} failing ones`, '')
  return lines
}

export type FailureContext = Pick<Report, 'version' | 'engine' | 'replays' | 'module' | 'store' | 'families'>

/** What failed, the course of the job it is about, and the command that makes it happen again. */
export function failureText(failure: Failure, report: FailureContext): string[] {
  const { property, seed, scenario, message, result } = failure
  const first = result?.violations[0]
  const when = first ? `t=+${(first.atMs / 1000).toFixed(3)}s   event ${first.event}   ` : ''
  const path = report.replays.find((replay) => replay.seed === seed && replay.property === property)?.path
  return [
    `${tagOf(failure)} ${inert(property)}   seed ${seed}   ${when}scenario ${inert(scenario ?? 'chosen by the seed')}   (holdfast ${report.version}, engine ${report.engine})`,
    ...message.split('\n').map((line) => `  ${inert(line)}`),
    ...(result ? faults(result) : []),
    ...(result && first ? storyOf(result, first).map((line) => `    ${line}`) : []),
    `  replay: npx holdfast replay ${path === undefined ? bySeed(failure, report) : quoted(path)}`,
  ]
}

/** A run that is no verdict on the code says so where another says FAIL. */
export function tagOf({ kind }: Pick<Failure, 'kind'>): string {
  return kind === 'violated' || kind === 'error' ? 'FAIL' : kind.toUpperCase()
}

const faultsShown = 8

/** Which faults took effect, the latest last. */
function faults({ plan, strikes, story }: RunResult): string[] {
  const struck = Object.values(strikes).reduce((sum, count) => sum + count, 0)
  const told = (story ?? []).filter((line) => 'type' in line && line.type === 'fault.struck')
  const lines = told.slice(-faultsShown).map((line) => `    ${storyLine(line)}`)
  return [
    `  faults drawn ${plan.length}, struck ${struck}${told.length > faultsShown ? ', the last of them:' : ''}`,
    ...lines,
  ]
}

function bySeed(failure: Failure, { module, store, families }: FailureContext): string {
  const { seed, scenario, result } = failure
  const parts = [seed, ...(scenario === null ? [] : [`--scenario ${quoted(scenario)}`]), `--store ${store}`]
  if (families) parts.push(`--faults ${families.join(',')}`)
  // Two runs that differed without a leak that was seen: it takes two to show it.
  if (failure.kind === 'nondeterministic' && !result?.leak) parts.push('--verify')
  return [...parts, ...(module === null ? [] : [`--module ${quoted(module)}`])].join(' ')
}

function verdict({ verdict: is, reasons }: Report): string[] {
  if (is === 'pass') return ['PASS  no invariant was violated']
  if (is === 'inconclusive')
    return ['INCONCLUSIVE  this run is no pass:', ...reasons.map((reason) => `  - ${inert(reason)}`)]
  if (is === 'nondeterministic')
    return ['NONDETERMINISTIC  the same seed may run otherwise: neither pass nor fail']
  return ['FAIL']
}
