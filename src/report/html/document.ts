import type { Report } from '../report.ts'
import { type Explorations, exploredSection } from './explorations.ts'
import { failuresSection } from './failure.ts'
import { type Html, html, nothing } from './markup.ts'
import { matrixSection } from './matrix.ts'
import { type Mutants, mutantsSection } from './mutants.ts'
import { saturationSection } from './saturation.ts'
import { pageOf } from './shell.ts'
import { headSection, ranSection } from './summary.ts'

/** What others found out, where that lies beside the report. */
export interface Beside {
  /** Of planted bugs. */
  readonly mutants?: Mutants | null
  /** Of all schedules to a bound. */
  readonly explored?: Explorations | null
}

/** The report as one page. `again` is the command that makes it again. */
export function htmlReport(
  report: Report,
  again: string,
  { mutants = null, explored = null }: Beside = {},
): string {
  return pageOf(`holdfast ${report.command}: ${report.verdict}`, [
    headSection(report),
    contents(report, mutants, explored),
    failuresSection(report),
    ranSection(report, again),
    matrixSection(report),
    saturationSection(report),
    exploredSection(explored),
    mutantsSection(mutants),
  ])
}

function contents({ summary }: Report, mutants: Mutants | null, explored: Explorations | null): Html {
  return html`<nav aria-label="contents">${summary.failures.length > 0 ? html`<a href="#failures">Failures</a>` : nothing}
<a href="#ran">What ran</a><a href="#matrix">Invariants</a><a href="#sometimes">Interesting events</a>${summary.coverage.behaviours > 0 ? html`<a href="#saturation">Saturation</a>` : nothing}${explored ? html`<a href="#explored">Explored</a>` : nothing}${mutants ? html`<a href="#mutants">Mutants</a>` : nothing}</nav>`
}
