import {
  type ExploreReport,
  type ExploredTopology,
  boundOf,
  collisionOf,
  contextOf,
  endOf,
  speedOf,
} from '../explore/report.ts'
import { count, plural, seconds } from '../format.ts'
import { bytesMax, failureOf } from './failure.ts'
import { type Html, html, nothing, raw } from './markup.ts'
import { compact, heat } from './matrix.ts'
import { spaceOf } from './space.ts'

/** The counterexamples: one a topology, that with the fewest deviations. */
export function counterexamples(report: ExploreReport): Html {
  const failing = report.explored.filter(({ failure }) => failure)
  if (failing.length === 0) return nothing
  const share = bytesMax / failing.length
  return html`<section id="failures"><h2>${plural(failing.length, 'counterexample')}</h2>
${failing.flatMap((one, k) => {
  const shown = { open: k === 0, bytesMax: share }
  return one.failure ? failureOf([one.failure], contextOf(one, report), shown) : []
})}</section>`
}

/** All in numbers, and the command that makes them again. */
export function exploredOf({ explored }: ExploreReport, again: string): Html {
  const sum = (of: (one: ExploredTopology) => number): number =>
    explored.reduce((all, one) => all + of(one), 0)
  const [states, wallMs] = [sum(({ result }) => result.states), sum(({ result }) => result.wallMs)]
  const distinct = sum(({ result }) => result.distinct)
  const complete = explored.filter(({ result }) => result.complete).length
  const facts: readonly (readonly [string, string, string])[] = [
    ['Topologies', count(explored.length), `${count(complete)} bounded-complete`],
    ['Schedules', count(sum(({ result }) => result.runs)), `in ${seconds(wallMs)}`],
    ['States', count(states), `${speedOf({ states, wallMs })} a second`],
    ['Distinct', count(distinct), `${count(states - distinct)} met again`],
  ]
  return html`<section id="explored"><h2>What was explored</h2>
<dl class="facts">${facts.map(([name, value, more]) => html`<div><dt>${name}</dt><dd>${value}<small>${more}</small></dd></div>`)}</dl>
<p class="command"><code>${again}</code></p>
<div class="scroll" tabindex="0" role="region" aria-label="topologies"><table>
<thead><tr><th scope="col">topology</th><th scope="col"></th>${columns.map(([title]) => html`<th scope="col" class="n">${title}</th>`)}</tr></thead>
<tbody>${explored.map(
    (one, k) =>
      html`<tr class="row is-${stateOf(one)}"><th scope="row"><a href="#topology-${k + 1}">${one.topology.name}</a></th><td><span class="tag">${endOf(one)}</span></td>${columns.map(([, of]) => html`<td class="n">${of(one)}</td>`)}</tr>`,
  )}</tbody></table></div></section>`
}

const columns: readonly (readonly [string, (one: ExploredTopology) => string])[] = [
  ['deviations', ({ result }) => count(result.level)],
  ['schedules', ({ result }) => count(result.runs)],
  ['states', ({ result }) => count(result.states)],
  ['distinct', ({ result }) => count(result.distinct)],
  ['pruned', ({ result }) => count(result.pruned)],
  ['steps, at most', ({ result }) => count(result.depthMax)],
  ['a second', ({ result }) => speedOf(result)],
  ['time', ({ result }) => seconds(result.wallMs)],
]

function stateOf({ failure, result }: ExploredTopology): 'violated' | 'evaluated' | 'vacuous' {
  return failure ? 'violated' : result.complete ? 'evaluated' : 'vacuous'
}

/** So many are shown unfolded; of more, those that are no proof. */
const openMost = 3

/** What was proven of each, and what its schedules look like. */
export function topologiesOf({ explored }: ExploreReport): Html {
  return html`<section id="topologies"><h2>Bounds</h2>
<p class="quiet">What holds within a bound holds of all schedules in it, and says nothing of what lies beyond: other systems, more deviations, other lengths of a fault.</p>
${explored.map((one, k) => {
  const open = explored.length <= openMost || !one.result.complete
  return html`<details class="topology is-${stateOf(one)}" id="topology-${k + 1}"${open ? raw(' open') : nothing}><summary><span class="what">${one.topology.name}</span> <b class="tag">${endOf(one)}</b> <span class="quiet">${one.topology.says}</span></summary>
<p>${boundOf(one)}</p>
${proofOf(one)}
${spaceOf(one)}
${levelsOf(one)}</details>`
})}</section>`
}

function proofOf({ result: { complete, distinct }, failure }: ExploredTopology): Html {
  if (failure)
    return html`<p class="quiet">Exploring ended with the counterexample: schedules with as many deviations were not all walked.</p>`
  return complete
    ? html`<p class="quiet">All schedules within that bound were walked: ${plural(distinct, 'state')}, probability that two of them were taken for one ${collisionOf(distinct)}.</p>`
    : html`<p class="quiet"><strong>Not complete:</strong> not all schedules within that bound were walked, so nothing is proven.</p>`
}

function levelsOf({ result: { levels } }: ExploredTopology): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="by deviations"><table>
<thead><tr><th scope="col">deviations</th>${['schedules', 'walked', 'states', 'distinct', 'pruned'].map((title) => html`<th scope="col" class="n">${title}</th>`)}</tr></thead>
<tbody>${levels.map(
    ({ deviations, schedules, runs, states, distinct, pruned }) =>
      html`<tr><th scope="row">${deviations}</th>${[schedules, runs, states, distinct, pruned].map((value) => html`<td class="n">${count(value)}</td>`)}</tr>`,
  )}</tbody></table></div>`
}

/** Invariants against topologies: how often each was evaluated there. Where nothing stands it is not judged. */
export function judgedSection({ explored }: ExploreReport): Html {
  const names = [...new Set(explored.flatMap(({ result }) => result.properties.map(({ name }) => name)))]
  return html`<section id="matrix"><h2>Invariants</h2>
<p class="quiet">How often each was evaluated in the schedules of each topology. One that never was proves nothing.</p>
<div class="scroll" tabindex="0" role="region" aria-label="invariants in topologies"><table class="matrix">
<thead><tr><th scope="col">invariant</th>${explored.map(({ topology }) => html`<th scope="col" class="tilt"><span>${topology.name}</span></th>`)}</tr></thead>
<tbody>${names.map((name) => html`<tr class="row"><th scope="row">${name}</th>${explored.map((one) => judgedCell(name, one))}</tr>`)}</tbody></table></div></section>`
}

function judgedCell(name: string, { topology, result, failure }: ExploredTopology): Html {
  const evaluations = result.properties.find((property) => property.name === name)?.evaluations
  if (evaluations === undefined) return html`<td></td>`
  const violated = failure?.result?.violations.some(({ property }) => property === name)
  const title = `${name} in ${topology.name}: ${count(evaluations)}${violated ? ', violated' : ''}`
  if (violated) return html`<td class="n broken" title="${title}">${compact(evaluations)}</td>`
  return evaluations === 0
    ? html`<td class="n never" title="${title}">never</td>`
    : html`<td class="n heat-${heat(evaluations)}" title="${title}">${compact(evaluations)}</td>`
}
