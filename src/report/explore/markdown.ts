import { count, seconds } from '../format.ts'
import { cell, code, fenced } from '../markdown.ts'
import { type ExploreReport, boundOf, collisionOf, endOf, speedOf } from './report.ts'
import { failureTextOf } from './text.ts'

/** What `explore` found, for a pull request. */
export function exploreMarkdown(report: ExploreReport, again: string): string {
  const { verdict, version, engine, reasons, explored } = report
  const lines = [
    `# holdfast explore: ${verdict}`,
    '',
    `holdfast ${version}, engine \`${engine}\`.`,
    '',
    `Again: \`${code(again)}\``,
    '',
    ...reasons.map((reason) => `- ${cell(reason)}`),
    ...(reasons.length > 0 ? [''] : []),
    '| topology | | deviations | schedules | states | distinct | pruned | steps | a second | time |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...explored.map((one) => {
      const { level, runs, states, distinct, pruned, depthMax, wallMs } = one.result
      const figures = [level, runs, states, distinct, pruned, depthMax].map(count)
      const cells = [...figures, speedOf(one.result), seconds(wallMs)].join(' | ')
      return `| ${cell(one.topology.name)} | ${endOf(one)} | ${cells} |`
    }),
    '',
    ...explored
      .filter(({ result }) => result.complete)
      .map((one) => {
        const { distinct } = one.result
        const proof = `${count(distinct)} states, collision probability ${cell(collisionOf(distinct))}`
        return `- bounded-complete: ${cell(one.topology.name)}: ${cell(boundOf(one))}; ${proof}`
      }),
    '',
    ...explored.flatMap((one) => {
      const text = failureTextOf(one, report)
      return text.length === 0 ? [] : ['```text', ...fenced(text), '```', '']
    }),
  ]
  return `${lines.join('\n')}\n`
}
