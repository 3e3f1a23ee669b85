import { allWork, carefulWork, mixedWork, work } from './jobs.ts'
import type { Scenario, WorkStep } from './scenario.ts'

type Draw = (bound: number, what: string, k: number) => number

/** Some jobs are sent twice, some under an id that is taken, some along with others, some without their place. */
function careless(steps: readonly WorkStep[], draw: Draw): WorkStep[] {
  return steps
    .flatMap((step, k): WorkStep[] => {
      const again = { ...step, again: true, atMs: step.atMs + draw(20_000, 'again', k) }
      switch (draw(8, 'how', k)) {
        case 0:
          return [step, again]
        case 1:
          return [step, { ...again, input: { workMs: 77, fails: 0, permanent: false } }]
        case 2:
          return [step, { ...again, job: step.job === work ? carefulWork : work }]
        case 3:
          return [{ ...step, also: company(steps, draw, k) }]
        case 4:
          return [{ ...step, undispatched: true }]
        default:
          return [step]
      }
    })
    .sort((a, b) => a.atMs - b.atMs)
}

/** Jobs of its own; and sometimes one whose id another producer has taken a moment ago, with another input. */
function company(steps: readonly WorkStep[], draw: Draw, k: number): NonNullable<WorkStep['also']> {
  const input = { workMs: 50 + draw(3_000, 'company', k), fails: 0, permanent: false }
  const own = [0, 1].map((n) => ({ job: work, input, options: { id: `j${k}.${n}` } }))
  const other = steps[k - 1]
  return other && draw(2, 'clash', k) === 0 ? [...own, { ...other, input }] : own
}

export const producers: Scenario = {
  name: 'producers',
  says: 'producers that send twice, take ids that are taken, send in batches, and die before a job has its place',
  workers: 2,
  concurrency: 5,
  activeMs: 300_000,
  jobs: allWork,
  workload: (draw) => careless(mixedWork(60, 300_000, draw), draw),
  families: ['lost-reply', 'lost-request', 'late-request', 'outage-short', 'crash'],
  swarm: false,
  density: 2,
}
