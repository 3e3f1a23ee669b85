import { allWork, carefulWork, fragileWork, longWork, mixedWork, work } from './jobs.ts'
import type { Scenario } from './scenario.ts'

/** Two services and two releases on one store: no worker can do everything but the last. */
const abilities: readonly ReturnType<NonNullable<Scenario['ability']>>[] = [
  { jobs: [work, fragileWork], queues: ['default'] },
  { jobs: [longWork], queues: ['long'] },
  { jobs: [work, carefulWork, longWork], queues: ['default'] },
  { jobs: allWork, queues: ['default', 'long'] },
]

export const mixedFleet: Scenario = {
  name: 'mixed-fleet',
  says: 'workers that know different jobs and queues, and are replaced one after another',
  workers: abilities.length,
  concurrency: 3,
  activeMs: 300_000,
  jobs: allWork,
  workload: (draw) => mixedWork(90, 300_000, draw),
  families: ['shutdown', 'crash', 'lost-reply'],
  swarm: false,
  density: 3,
  ability: (k) => abilities[k] ?? { jobs: allWork, queues: [] },
}
