import type { Failure } from '../sim/tally.ts'
import { type CommandContext, replayCommand } from './command.ts'
import { count, inert, longTime, plural, seconds, table } from './format.ts'
import { byKind } from './kinds.ts'
import type { Report } from './report.ts'
import type { Judged } from '../sim/judge.ts'
import type { RunResult } from '../sim/run.ts'
import type { Shrunk } from '../sim/shrink.ts'
import { deviationsOf, runWords } from './explore/deviation.ts'
import { faultWords } from './fault.ts'
import { storyOf } from './story.ts'
import { storyLines } from './teller.ts'

const failuresShown = 5
const seedsShown = 10

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

function properties(report: Report): string[] {
  const { summary } = report
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
    '  n/a: what it is about did not happen;  -: never violated',
    ...suspensions(report).map((line) => `  ${line}`),
    '',
    `  reached at least once: ${reached} of ${sometimes.length} interesting events`,
    ...saturation(report),
    ...(summary.unreached.length > 0 ? [`  never reached: ${summary.unreached.join(', ')}`] : []),
  ]
}

/** What was not judged in some runs, and why not. */
export function suspensions({ summary: { properties: all, faults } }: Report): string[] {
  return all
    .filter(({ suspended }) => suspended > 0)
    .map(({ name, suspended, suspendedBy }) => {
      const struck = suspendedBy.filter((family) => faults[family])
      return `suspended: ${name}, in ${plural(suspended, 'run')} from the first ${struck.join(' or ')} on`
    })
}

const hundredsShown = 8

/** How far the campaign has come: a line that goes on growing says that it is not over. */
export function saturation({ summary: { coverage } }: Report): string[] {
  const { behaviours, newPerHundred: all } = coverage
  if (behaviours === 0) return []
  const shown = all.slice(-hundredsShown).map(count).join(', ')
  return [
    `  behaviours met (fault family > what came of it): ${count(behaviours)}; new in each hundred seeds: ${all.length > hundredsShown ? '..., ' : ''}${shown}`,
  ]
}

function failures(report: Report): string[] {
  const { failures: all } = report.summary
  const { seedsAsked } = report
  const kinds = byKind(all)
  const lines = kinds.slice(0, failuresShown).flatMap((kind) => [...kindText(kind, report), ''])
  if (kinds.length > failuresShown)
    lines.push(`  and ${plural(kinds.length - failuresShown, 'more kind')} of failure`, '')
  if (all.length > 0 && seedsAsked !== null && report.summary.seeds < seedsAsked)
    lines.push(`  no more seeds were dealt after ${count(all.length)} failing ones`, '')
  return lines
}

/** A failure, and which other seeds fail in the same way. */
export function kindText([first, ...others]: readonly [Failure, ...Failure[]], report: Report): string[] {
  const seeds = others.slice(0, seedsShown).map(({ seed }) => seed)
  const rest = others.length > seeds.length ? `, and ${count(others.length - seeds.length)} more` : ''
  const same =
    others.length === 0
      ? []
      : [`  the same with ${plural(others.length, 'other seed')}: ${seeds.join(', ')}${rest}`]
  return [...failureText(first, report), ...same]
}

export type FailureContext = Pick<Report, 'version' | 'engine'> & CommandContext

/** What failed, the course of the job it is about, and the command that makes it happen again. */
export function failureText(failure: Failure, report: FailureContext): string[] {
  const { property, scenario, message, result } = failure
  const first = result?.violations[0]
  const of = result?.deviations ? 'topology' : 'scenario'
  const when = first ? `t=+${(first.atMs / 1000).toFixed(3)}s   event ${first.event}   ` : ''
  return [
    `${tagOf(failure)} ${inert(property)}   ${runWords(failure)}   ${when}${of} ${inert(scenario ?? 'chosen by the seed')}   (holdfast ${report.version}, engine ${report.engine})`,
    ...message.split('\n').map((line) => `  ${inert(line)}`),
    ...(result ? faults(result) : []),
    ...(result && first ? storyOf(result, first).map((line) => `    ${line}`) : []),
    `  replay: ${replayCommand(failure, report)}`,
  ]
}

/** A run that is no verdict on the code says so where another says FAIL. */
export function tagOf({ kind }: Pick<Failure, 'kind'>): string {
  return kind === 'violated' || kind === 'error' ? 'FAIL' : kind.toUpperCase()
}

const faultsShown = 8

function faults(result: Judged): string[] {
  if (result.deviations) return deviated(result)
  return result.shrunk ? needed(result, result.shrunk) : struck(result)
}

/** What it takes, and no more. */
function needed(
  { plan, steps, without }: Judged,
  { faults: drawn, steps: of, runs, wallMs, minimal, also }: Shrunk,
): string[] {
  const words = plan.map((fault) => `    ${faultWords(fault)}`)
  return [
    `  faults drawn ${drawn}, needed ${plan.length}; jobs drawn ${of}, needed ${steps - without.length}   [${plural(runs, 're-run')}, ${seconds(wallMs)}${minimal ? '' : '; the time was over, so there may be less'}]`,
    ...words,
    ...(also.length > 0 ? [`  also seen while shrinking, not followed: ${also.map(inert).join(', ')}`] : []),
  ]
}

/** Where a schedule leaves the default. */
function deviated(result: Judged): string[] {
  const words = deviationsOf(result)
  return words.length === 0
    ? ['  the default schedule']
    : ['  from the default schedule:', ...words.map((line) => `    ${line}`)]
}

/** Which faults took effect, the latest last. */
function struck({ plan, strikes, story }: RunResult): string[] {
  const all = Object.values(strikes).reduce((sum, count) => sum + count, 0)
  const told = (story ?? []).filter((line) => 'type' in line && line.type === 'fault.struck')
  const lines = storyLines(told.slice(-faultsShown)).map((line) => `    ${line}`)
  return [
    `  faults drawn ${plan.length}, struck ${all}${told.length > faultsShown ? ', the last of them:' : ''}`,
    ...lines,
  ]
}

function verdict({ verdict: is, reasons }: Report): string[] {
  if (is === 'pass') return ['PASS  no invariant was violated']
  if (is === 'inconclusive')
    return ['INCONCLUSIVE  this run is no pass:', ...reasons.map((reason) => `  - ${inert(reason)}`)]
  if (is === 'nondeterministic')
    return ['NONDETERMINISTIC  the same seed may run otherwise: neither pass nor fail']
  return ['FAIL']
}
