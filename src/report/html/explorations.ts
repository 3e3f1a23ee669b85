import { InvalidArgument } from '../../engine/errors.ts'
import { count, plural } from '../format.ts'
import { type Html, html, nothing } from './markup.ts'

/** What `holdfast explore` left: which small systems were walked through, to which bound. */
export interface Explorations {
  readonly topologies: readonly Exploration[]
}

interface Exploration {
  readonly name: string
  readonly bound: string
  readonly complete: boolean
  readonly violatedBy: readonly unknown[] | null
  readonly runs: number
  readonly states: number
  readonly distinct: number
}

/** Throws `InvalidArgument` for anything else. */
export function parseExplorations(text: string): Explorations {
  let value: Partial<Explorations> | null
  try {
    value = JSON.parse(text) as Partial<Explorations> | null
  } catch (error) {
    throw new InvalidArgument('this is no result of explore: it is not JSON', { cause: error })
  }
  if (!Array.isArray(value?.topologies) || !value.topologies.every(isExploration))
    throw new InvalidArgument('this is no result of explore that this version reads')
  return value as Explorations
}

function isExploration(value: unknown): value is Exploration {
  const { name, bound, complete, violatedBy, runs, states, distinct } = (value ?? {}) as Partial<Exploration>
  return (
    typeof name === 'string' &&
    typeof bound === 'string' &&
    typeof complete === 'boolean' &&
    (violatedBy === null || Array.isArray(violatedBy)) &&
    [runs, states, distinct].every((figure) => Number.isFinite(figure))
  )
}

export function exploredSection(told: Explorations | null): Html {
  if (!told) return nothing
  const { topologies } = told
  const complete = topologies.filter((one) => one.complete).length
  return html`<section id="explored"><h2>Explored</h2>
<p>Small systems of which all schedules were walked, to a stated bound: ${complete} of ${topologies.length} to their end without a violation. explore.html beside this page has more.</p>
<div class="scroll" tabindex="0" role="region" aria-label="explored topologies"><table>
<thead><tr><th scope="col">topology</th><th scope="col"></th><th scope="col" class="n">schedules</th><th scope="col" class="n">states</th><th scope="col" class="n">distinct</th></tr></thead>
<tbody>${topologies.map(
    (one) =>
      html`<tr class="row is-${one.violatedBy ? 'violated' : one.complete ? 'evaluated' : 'vacuous'}"><th scope="row">${one.name}</th><td><span class="tag">${endOf(one)}</span></td><td class="n">${count(one.runs)}</td><td class="n">${count(one.states)}</td><td class="n">${count(one.distinct)}</td></tr>`,
  )}</tbody></table></div>
<details><summary>The bounds</summary><ul class="bounds">${topologies.map(({ name, bound }) => html`<li><b>${name}</b>: ${bound}</li>`)}</ul></details></section>`
}

function endOf({ violatedBy, complete }: Exploration): string {
  if (violatedBy) return `violated by ${plural(violatedBy.length, 'deviation')}`
  return complete ? 'bounded-complete' : 'not complete'
}
