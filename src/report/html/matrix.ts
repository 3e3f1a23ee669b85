import { count } from '../format.ts'
import type { Report } from '../report.ts'
import { type Html, html } from './markup.ts'
import { evaluatedOf, familiesOf } from './summary.ts'

type Told = Report['summary']['properties'][number]

/** Invariants against fault families: how often each was put to the test in the runs in which each family struck. */
export function matrixSection(report: Report): Html {
  const { properties } = report.summary
  const families = familiesOf(report)
  const invariants = properties.filter(({ kind }) => kind !== 'sometimes')
  const events = properties.filter(({ kind }) => kind === 'sometimes')
  const reached = events.filter((event) => event.reached).length
  return html`<section id="matrix"><h2>Invariants under faults</h2>
<p class="quiet">How often each was evaluated in the runs in which each family struck. A row that was never evaluated proves nothing.</p>
${table(report, families, invariants, 'invariant')}
<h2 id="sometimes">Interesting events</h2>
<p class="quiet">What a run must meet now and then, or its invariants were never in danger. Met: ${reached} of ${events.length}.</p>
${table(report, families, events, 'event')}
</section>`
}

function table(report: Report, families: readonly string[], rows: readonly Told[], what: string): Html {
  const { faults } = report.summary
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${what}s under fault families"><table class="matrix">
<thead><tr><th scope="col">${what}</th><th scope="col"></th><th scope="col" class="n">in all</th>${families.map(
    (family) =>
      html`<th scope="col" class="tilt${faults[family] ? '' : ' never'}"><span>${family}</span></th>`,
  )}</tr></thead>
<tbody>${rows.map((row) => rowOf(report, families, row))}</tbody>
<tfoot><tr><th scope="row">struck</th><td></td><td></td>${families.map((family) =>
    faults[family]
      ? html`<td class="n" title="${count(faults[family])}">${compact(faults[family])}</td>`
      : html`<td class="n never" title="${family} never struck">never</td>`,
  )}</tr></tfoot></table></div>`
}

function rowOf({ summary }: Report, families: readonly string[], told: Told): Html {
  const { name, kind, evaluations, violations } = told
  const is = evaluatedOf(told)
  const word = kind === 'sometimes' && is !== 'not applicable' ? (told.reached ? 'met' : 'never met') : is
  const said = violations > 0 ? `${word} ${count(violations)} x` : word
  return html`<tr class="row is-${is.replace(' ', '-')}"><th scope="row">${name}${kind === 'eventually' ? html` <small>eventually</small>` : html``}</th><td><span class="tag">${said}</span></td><td class="n" title="${count(evaluations)}">${compact(evaluations)}</td>${families.map(
    (family) => {
      if (told.suspendedBy.includes(family) && summary.faults[family]) {
        return html`<td class="n never" title="${name} is suspended by ${family}">susp.</td>`
      }
      const times = summary.matrix[name]?.[family] ?? 0
      return html`<td class="n heat-${heat(times)}" title="${name} under ${family}: ${count(times)}">${times === 0 ? '' : compact(times)}</td>`
    },
  )}</tr>`
}

/** In at most four characters. */
export function compact(value: number): string {
  if (value < 1_000) return String(value)
  if (value < 9_950) return `${(value / 1_000).toFixed(1)}k`
  if (value < 999_500) return `${Math.round(value / 1_000)}k`
  if (value < 9_950_000) return `${(value / 1_000_000).toFixed(1)}M`
  return `${Math.round(value / 1_000_000)}M`
}

export function heat(times: number): number {
  return times === 0 ? 0 : Math.min(4, 1 + Math.floor(Math.log10(times) / 1.5))
}
