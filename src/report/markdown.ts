import { count, inert, longTime, seconds } from './format.ts'
import { byKind } from './kinds.ts'
import type { Report } from './report.ts'
import { kindText, saturation, suspensions } from './text.ts'

/** The report for a pull request. */
export function markdownReport(report: Report, again: string): string {
  const { summary, wallMs } = report
  const lines = [
    `# holdfast ${report.command}: ${report.verdict}`,
    '',
    `holdfast ${report.version}, engine \`${report.engine}\`, store \`${code(report.store)}\`, first seed \`${report.firstSeed}\`.`,
    `${count(summary.seeds)} seeds, ${longTime(summary.simulatedMs)} simulated in ${seconds(wallMs)}, ${count(summary.events)} events, trace hash \`${summary.traceHash}\`.`,
    '',
    `Again: \`${code(again)}\``,
    '',
    ...report.reasons.map((reason) => `- ${cell(reason)}`),
    ...(report.reasons.length > 0 ? [''] : []),
    '| invariant | kind | evaluated | violated |',
    '| --- | --- | ---: | ---: |',
    ...summary.properties
      .filter(({ kind }) => kind !== 'sometimes')
      .map(
        ({ name, kind, evaluations, violations }) =>
          `| ${cell(name)} | ${kind} | ${count(evaluations)} | ${count(violations)} |`,
      ),
    '',
    ...suspensions(report).map((line) => `- ${cell(line)}`),
    '',
    '| interesting event | times |',
    '| --- | ---: |',
    ...summary.properties
      .filter(({ kind }) => kind === 'sometimes')
      .map(
        ({ name, evaluations }) =>
          `| ${cell(name)} | ${evaluations > 0 ? count(evaluations) : '**never**'} |`,
      ),
    '',
    '| fault family | struck |',
    '| --- | ---: |',
    ...Object.entries(summary.faults).map(([family, struck]) => `| ${cell(family)} | ${count(struck)} |`),
    '',
    ...(summary.coverage.behaviours > 0 ? [...saturation(report).map((line) => line.trim()), ''] : []),
    ...byKind(summary.failures).flatMap((kind) => ['```text', ...fenced(kindText(kind, report)), '```', '']),
  ]
  return `${lines.join('\n')}\n`
}

/** Inside a code span nothing is markup but the backtick. */
export function code(text: string): string {
  return inert(text).replaceAll('`', "'")
}

/** Inert in text and in a table cell. */
export function cell(text: string): string {
  return inert(text).replaceAll(/[&|`<>[\]\\*_~@]/g, (mark) => `&#${mark.charCodeAt(0)};`)
}

/** Inside a fence nothing is markup but the fence itself. */
export function fenced(lines: readonly string[]): string[] {
  return lines.map((line) => line.replaceAll('```', "'''"))
}
