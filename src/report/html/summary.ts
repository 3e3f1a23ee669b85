import { families } from '../../sim/faults/index.ts'
import type { Summary } from '../../sim/tally.ts'
import { count, longTime, plural, seconds } from '../format.ts'
import type { Report, Verdict } from '../report.ts'
import { type Html, html, nothing } from './markup.ts'

const verdictWords: Readonly<Record<Verdict, readonly [string, string]>> = {
  pass: ['Pass', 'No invariant was violated.'],
  violated: ['Fail', 'An invariant was violated.'],
  inconclusive: ['Inconclusive', 'This run is no pass.'],
  nondeterministic: ['Nondeterministic', 'The same seed may run otherwise: neither pass nor fail.'],
}

export type Head = Pick<Report, 'version' | 'command' | 'engine' | 'store' | 'verdict' | 'reasons'>

/** `own`: what the verdict says, where there is more to say than that. */
export function headSection(report: Head, own: string | null = null): Html {
  const [word, general] = verdictWords[report.verdict]
  const says = own ?? general
  return html`<header class="verdict is-${report.verdict}">
<p class="kicker">holdfast ${report.version}, ${report.command}, engine ${report.engine}, store ${report.store}</p>
<h1>${word}</h1>
<p class="says">${says}</p>
${report.reasons.length > 0 ? html`<ul>${report.reasons.map((reason) => html`<li>${reason}</li>`)}</ul>` : nothing}
</header>`
}

export function ranSection(report: Report, again: string): Html {
  const { summary, wallMs, seedsAsked } = report
  const asked = seedsAsked === null ? '' : ` of ${count(seedsAsked)}`
  const facts: readonly (readonly [string, string, string])[] = [
    ['Seeds', `${count(summary.seeds)}${asked}`, `from ${report.firstSeed}`],
    [
      'Simulated',
      longTime(summary.simulatedMs),
      `in ${seconds(wallMs)}, ${count(summary.simulatedMs / Math.max(1, wallMs))} x real time`,
    ],
    ['Events', count(summary.events), `${count((summary.events / Math.max(1, wallMs)) * 1_000)} a second`],
    ['Faults', count(sum(summary.faults)), `struck, of ${Object.keys(summary.faults).length} families`],
  ]
  return html`<section id="ran"><h2>What ran</h2>
<dl class="facts">${facts.map(([name, value, more]) => html`<div><dt>${name}</dt><dd>${value}<small>${more}</small></dd></div>`)}</dl>
<p class="quiet">Trace <code>${summary.traceHash}</code></p>
<p class="command"><code>${again}</code></p>
<details><summary>${plural(Object.keys(summary.scenarios).length, 'scenario')}</summary>
<ul class="columns">${Object.entries(summary.scenarios).map(([name, seeds]) => html`<li>${name} <span class="n">${count(seeds)}</span></li>`)}</ul>
</details></section>`
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((all, some) => all + some, 0)
}

/** Every family that could have struck, those that did first. */
export function familiesOf({ families: only, summary }: Report): readonly string[] {
  const struck = Object.keys(summary.faults)
  const could = only ?? families.map(({ name }) => name)
  return [...struck, ...could.filter((name) => !struck.includes(name)).sort()]
}

export type Evaluated = 'violated' | 'evaluated' | 'not applicable' | 'vacuous'

/** Whether a property was put to the test at all. */
export function evaluatedOf({
  violations,
  evaluations,
  applicable,
}: Summary['properties'][number]): Evaluated {
  if (violations > 0) return 'violated'
  if (evaluations > 0) return 'evaluated'
  return applicable ? 'vacuous' : 'not applicable'
}
