import { type Property, property } from './property.ts'

/**
 * Why: safety alone is kept by an engine that does nothing. Once faults end, everything must end too,
 * within the bound that the run computes from the jobs themselves. (Design, section 3.)
 *
 * Blind spot: it takes the run's word for what converged means and for the bound, so a bound that is far
 * too generous hides slowness.
 */
interface State {
  healedAtMs: number | null
  boundMs: number
}

export const convergence: Property = property({
  name: 'convergence',
  kind: 'eventually',
  says: 'After the faults ended, every job ends within the bound of the run.',
  blindSpot: 'The bound and the meaning of converged are those of the run itself.',
  on: ['run.healed', 'run.ended'],
  suspendedBy: [],
  start: (): State => ({ healedAtMs: null, boundMs: 0 }),
  step(state, event, verdict) {
    if (event.type === 'run.healed') {
      state.healedAtMs = event.atMs
      state.boundMs = event.boundMs
      return
    }
    if (state.healedAtMs === null) return
    verdict.evaluated()
    if (event.converged) return
    const message = `healed at ${state.healedAtMs} ms, and not converged ${event.atMs - state.healedAtMs} ms later (bound ${state.boundMs} ms)`
    verdict.violated({ kind: 'not-converged', subject: 'run', message })
  },
})
