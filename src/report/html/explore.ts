import type { ExploreReport } from '../explore/report.ts'
import { type Html, html, nothing } from './markup.ts'
import { pageOf } from './shell.ts'
import { headSection } from './summary.ts'
import { counterexamples, exploredOf, judgedSection, topologiesOf } from './topologies.ts'

/** What `explore` found as one page. `again` is the command that makes it again. */
export function exploreHtml(report: ExploreReport, again: string): string {
  const { verdict } = report
  const says = verdict === 'pass' ? 'No schedule within the bounds violates an invariant.' : null
  return pageOf(`holdfast explore: ${verdict}`, [
    headSection({ ...report, command: 'explore', store: 'memory' }, says),
    contents(report),
    counterexamples(report),
    exploredOf(report, again),
    topologiesOf(report),
    judgedSection(report),
  ])
}

function contents({ explored }: ExploreReport): Html {
  return html`<nav aria-label="contents">${explored.some(({ failure }) => failure) ? html`<a href="#failures">Counterexamples</a>` : nothing}
<a href="#explored">What was explored</a><a href="#topologies">Bounds</a><a href="#matrix">Invariants</a></nav>`
}
