import type { Failure, Summary } from '../sim/tally.ts'
import { replayCommand } from './command.ts'
import { inert } from './format.ts'
import type { Report } from './report.ts'
import { failureText } from './text.ts'

/** What a CI server shows: a test case for each invariant, each interesting event and each scenario, and the run. */
export function junitReport(report: Report): string {
  const { summary } = report
  const suites = [
    suite(
      'invariants',
      summary.properties.filter(({ kind }) => kind !== 'sometimes').map((told) => invariant(told, report)),
    ),
    suite(
      'interesting events',
      summary.properties.filter(({ kind }) => kind === 'sometimes').map((told) => event(told, report)),
    ),
    suite(
      'scenarios',
      scenariosOf(report).map((name) => scenario(name, report)),
    ),
    suite('the run', [whole(report)]),
  ]
  return document(`holdfast ${report.command}: ${report.verdict}`, report.wallMs, suites)
}

export function document(name: string, wallMs: number, suites: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${attribute(name)}" time="${(wallMs / 1_000).toFixed(3)}">
${suites.join('\n')}
</testsuites>
`
}

type Told = Summary['properties'][number]

export interface Case {
  readonly name: string
  readonly of: string
  readonly ends: 'passes' | 'failure' | 'error' | 'skipped'
  readonly message: string
  readonly text: string
}

export function suite(name: string, cases: readonly Case[]): string {
  const counted = (ends: Case['ends']): number => cases.filter((one) => one.ends === ends).length
  const head = `tests="${cases.length}" failures="${counted('failure')}" errors="${counted('error')}" skipped="${counted('skipped')}"`
  return [`  <testsuite name="${name}" ${head}>`, ...cases.map(element), '  </testsuite>'].join('\n')
}

function element({ name, of, ends, message, text }: Case): string {
  const head = `    <testcase classname="holdfast.${of}" name="${attribute(name)}"`
  if (ends === 'passes') return `${head}/>`
  const says = `message="${attribute(message)}"`
  const inner = text === '' ? `<${ends} ${says}/>` : `<${ends} ${says}>${content(text)}</${ends}>`
  return `${head}>${inner}</testcase>`
}

export function passes(name: string, of: string): Case {
  return { name, of, ends: 'passes', message: '', text: '' }
}

function invariant(told: Told, report: Report): Case {
  const { name, violations, evaluations, applicable } = told
  const about = passes(name, 'invariants')
  if (violations > 0) {
    const failures = report.summary.failures.filter(({ property }) => property === name)
    const message =
      failures[0]?.message ?? `violated ${violations} times, each after another failure of its run`
    return { ...about, ends: 'failure', message, text: textOf(failures, report) }
  }
  if (evaluations > 0) return about
  return applicable
    ? { ...about, ends: verdictEnds(name, report), message: 'never evaluated: it proves nothing' }
    : { ...about, ends: 'skipped', message: 'not applicable: what it is about did not happen' }
}

function event(told: Told, report: Report): Case {
  const about = passes(told.name, 'events')
  if (told.reached) return about
  const message = told.applicable ? 'never reached' : 'not applicable'
  return { ...about, ends: verdictEnds(told.name, report), message }
}

/** What the verdict holds against the run is an error; else it is only told. */
function verdictEnds(name: string, { summary }: Report): 'error' | 'skipped' {
  return summary.vacuous.some((reason) => reason.startsWith(`${name} was never `)) ? 'error' : 'skipped'
}

/** Those of a run that did not live to tell which it was have one of their own. */
const unknown = 'chosen by the seed'

function scenariosOf({ summary }: Report): readonly string[] {
  const failed = summary.failures.map(({ scenario: name }) => name ?? unknown)
  return [...new Set([...Object.keys(summary.scenarios), ...failed])]
}

function scenario(name: string, report: Report): Case {
  const failures = report.summary.failures.filter((failure) => (failure.scenario ?? unknown) === name)
  const [first] = failures
  const about = passes(name, 'scenarios')
  if (!first) return about
  const broken = failures.every(({ kind }) => kind !== 'violated')
  const message = `${first.property}: ${first.message}`
  return { ...about, ends: broken ? 'error' : 'failure', message, text: textOf(failures, report) }
}

export function whole({ verdict, reasons }: Pick<Report, 'verdict' | 'reasons'>): Case {
  const about = passes('verdict', 'run')
  if (verdict === 'pass') return about
  const message = reasons.length > 0 ? `${verdict}: ${reasons.join('; ')}` : verdict
  return { ...about, ends: verdict === 'violated' ? 'failure' : 'error', message }
}

const failuresShown = 5

function textOf(failures: readonly Failure[], report: Report): string {
  const shown = failures.slice(0, failuresShown).flatMap((failure) => [...failureText(failure, report), ''])
  const rest = failures.slice(failuresShown).map((failure) => `also: ${replayCommand(failure, report)}`)
  return [...shown, ...rest].join('\n')
}

/** Text between tags: nothing that XML 1.0 forbids, line by line; `>` too, so that no `]]>` is left. */
function content(text: string): string {
  return text
    .split('\n')
    .map((line) =>
      inert(line)
        .replaceAll(/[\ufffe\uffff]/g, spelled)
        .replaceAll(/[&<>"]/g, reference),
    )
    .join('\n')
}

const attributeMax = 1_000

/** As an attribute: on one line, and not endless. The whole of it is in the text. */
function attribute(text: string): string {
  const shown = text.length > attributeMax ? `${text.slice(0, attributeMax)} ...` : text
  return content(shown.replaceAll('\n', ' '))
}

function spelled(mark: string): string {
  return `\\u${mark.charCodeAt(0).toString(16)}`
}

function reference(mark: string): string {
  return `&#${mark.charCodeAt(0)};`
}
