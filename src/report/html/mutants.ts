import { InvalidArgument } from '../../engine/errors.ts'
import { count, plural } from '../format.ts'
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
  /** Of exploring schedules; missing or null: that was not tried. */
  readonly schedules?: Schedules | null
}

interface Schedules {
  /** Whether some topology judges what it breaks. */
  readonly asked: boolean
  /** Null: none within the bound shows it. */
  readonly shown: {
    readonly topology: string
    readonly deviations: number
    readonly wallMs: number
  } | null
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
    Number.isFinite(mutant.wallMs) &&
    (mutant.schedules === undefined || mutant.schedules === null || isSchedules(mutant.schedules))
  )
}

function isSchedules({ asked, shown }: Partial<Schedules>): boolean {
  if (typeof asked !== 'boolean') return false
  if (shown === null) return true
  const { topology, deviations, wallMs } = shown ?? {}
  return typeof topology === 'string' && Number.isSafeInteger(deviations) && Number.isFinite(wallMs)
}

export function mutantsSection(told: Mutants | null): Html {
  if (!told) return nothing
  const { mutants, survivors } = told
  const killed = mutants.filter((mutant) => mutant.killed).length
  const explored = mutants.some(({ schedules }) => schedules)
  return html`<section id="mutants"><h2>Mutants</h2>
<p>Bugs planted on purpose: ${killed} of ${mutants.length} were seen by the invariant that they break.${survivors.length > 0 ? html` <strong>Survived: ${survivors.join(', ')}.</strong>` : nothing}</p>
${explored ? exploredOf(mutants) : nothing}
<details><summary>Each of them</summary><div class="scroll" tabindex="0" role="region" aria-label="mutants"><table>
<thead><tr><th scope="col">mutant</th><th scope="col"></th><th scope="col">by</th><th scope="col" class="n">seeds</th><th scope="col" class="n">ms</th>${explored ? html`<th scope="col">by exploring</th><th scope="col" class="n">ms</th>` : nothing}</tr></thead>
<tbody>${mutants.map((mutant) => html`<tr class="row is-${mutant.killed ? 'evaluated' : 'vacuous'}"><th scope="row">${mutant.id}</th><td><span class="tag">${mutant.killed ? 'killed' : 'survived'}</span></td><td>${mutant.property ?? ''}</td><td class="n">${count(mutant.seeds)}</td><td class="n">${count(mutant.wallMs)}</td>${explored ? schedulesOf(mutant) : nothing}</tr>`)}</tbody>
</table></div></details></section>`
}

/** How many of those that some topology judges a schedule shows, and how far from the default it has to go. */
function exploredOf(mutants: readonly Mutant[]): Html {
  const asked = mutants.filter(({ schedules }) => schedules?.asked)
  const shown = asked.flatMap(({ schedules }) => schedules?.shown ?? [])
  const most = Math.max(0, ...shown.map(({ deviations }) => deviations))
  const at = Array.from({ length: most + 1 }, (_, k) => shown.filter(({ deviations }) => deviations === k))
  const counts = at.flatMap(({ length }, k) =>
    length > 0 ? [`${count(length)} at ${plural(k, 'deviation')}`] : [],
  )
  return html`<p>By exploring schedules: ${shown.length} of the ${asked.length} about what a topology judges${counts.length > 0 ? ` (${counts.join(', ')})` : ''}.</p>`
}

function schedulesOf({ schedules }: Mutant): Html {
  const { asked = false, shown = null } = schedules ?? {}
  if (shown)
    return html`<td>${shown.topology}, ${plural(shown.deviations, 'deviation')}</td><td class="n">${count(shown.wallMs)}</td>`
  return html`<td>${asked ? 'not within the bound' : schedules ? 'no topology judges it' : 'not tried'}</td><td></td>`
}
