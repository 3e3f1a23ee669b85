import { type Property, property } from './property.ts'

/**
 * Why: safety alone is kept by an engine that does nothing. Once faults end, everything must end too,
 * within the bound that the run computes from the jobs themselves. (Design, section 3.)
 *
 * Blind spot: it takes the run's word for what converged means and for the bound, so a bound that is far
 * too generous hides slowness.
 */
interface Open {
  readonly job: string
  readonly state: string
}

interface State {
  healedAtMs: number | null
  boundMs: number
  /** Those that are told, in the end, to be in no final state. */
  open: Open[]
}

const namedMax = 5

export const convergence: Property = property({
  name: 'convergence',
  kind: 'eventually',
  says: 'After the faults ended, every job ends within the bound of the run.',
  blindSpot: 'The bound and the meaning of converged are those of the run itself.',
  on: ['run.healed', 'job.final', 'run.ended'],
  suspendedBy: [],
  start: (): State => ({ healedAtMs: null, boundMs: 0, open: [] }),
  step(state, event, verdict) {
    if (event.type === 'run.healed') {
      state.healedAtMs = event.atMs
      state.boundMs = event.boundMs
      return
    }
    if (event.type === 'job.final') {
      if (event.state === 'queued' || event.state === 'running')
        state.open.push({ job: event.job, state: event.state })
      return
    }
    if (state.healedAtMs === null) return
    verdict.evaluated()
    if (event.converged) return
    const message = `healed at +${state.healedAtMs / 1000}s, and within the bound of ${state.boundMs / 1000} s after that not all jobs ended: ${named(state.open)}`
    verdict.violated({ kind: 'not-converged', subject: state.open[0]?.job ?? 'run', message })
  },
})

function named(open: readonly Open[]): string {
  if (open.length === 0) return 'an enqueue that nobody acknowledged'
  const first = open.slice(0, namedMax).map(({ job, state }) => `${job} (${state})`)
  const more = open.length > namedMax ? ` and ${open.length - namedMax} more` : ''
  return first.join(', ') + more
}
