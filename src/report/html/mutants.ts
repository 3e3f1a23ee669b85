import { InvalidArgument } from '../../engine/errors.ts'
import { count } from '../format.ts'
import { type Html, html, nothing } from './markup.ts'

/** What `npm run mutants -- --json` found: which planted bugs the bench saw. */
export interface Mutants {
  readonly mutants: readonly Mutant[]
  readonly survivors: readonly string[]
}

interface Mutant {
  readonly id: string
  readonly killed: boolean
  readonly property: string | null
  readonly seeds: number
  readonly wallMs: number
}

/** Throws `InvalidArgument` for anything else. */
export function parseMutants(text: string): Mutants {
  let value: Partial<Mutants> | null
  try {
    value = JSON.parse(text) as Partial<Mutants> | null
  } catch (error) {
    throw new InvalidArgument('this is no result of the mutants: it is not JSON', { cause: error })
  }
  const whole =
    Array.isArray(value?.mutants) &&
    value.mutants.every(isMutant) &&
    Array.isArray(value.survivors) &&
    value.survivors.every((id) => typeof id === 'string')
  if (!whole) throw new InvalidArgument('this is no result of the mutants that this version reads')
  return value as Mutants
}

function isMutant(value: unknown): value is Mutant {
  const mutant = value as Partial<Mutant> | null
  return (
    typeof mutant?.id === 'string' &&
    typeof mutant.killed === 'boolean' &&
    (mutant.property === null || typeof mutant.property === 'string') &&
    Number.isFinite(mutant.seeds) &&
    Number.isFinite(mutant.wallMs)
  )
}

export function mutantsSection(told: Mutants | null): Html {
  if (!told) return nothing
  const { mutants, survivors } = told
  const killed = mutants.filter((mutant) => mutant.killed).length
  return html`<section id="mutants"><h2>Mutants</h2>
<p>Bugs planted on purpose: ${killed} of ${mutants.length} were seen by the invariant that they break.${survivors.length > 0 ? html` <strong>Survived: ${survivors.join(', ')}.</strong>` : nothing}</p>
<details><summary>Each of them</summary><div class="scroll" tabindex="0" role="region" aria-label="mutants"><table>
<thead><tr><th scope="col">mutant</th><th scope="col"></th><th scope="col">by</th><th scope="col" class="n">seeds</th><th scope="col" class="n">ms</th></tr></thead>
<tbody>${mutants.map((mutant) => html`<tr class="row is-${mutant.killed ? 'evaluated' : 'vacuous'}"><th scope="row">${mutant.id}</th><td><span class="tag">${mutant.killed ? 'killed' : 'survived'}</span></td><td>${mutant.property ?? ''}</td><td class="n">${count(mutant.seeds)}</td><td class="n">${count(mutant.wallMs)}</td></tr>`)}</tbody>
</table></div></details></section>`
}
