import { allWork, work } from './jobs.ts'
import type { Scenario, WorkStep } from './scenario.ts'

const waveMs = 15_000

/** Waves of jobs that end together, so that they are settled together; and many claims, so that many leases lapse together. */
export function waves(count: number, draw: (bound: number, what: string, k: number) => number): WorkStep[] {
  return Array.from({ length: count }, (_, k): WorkStep => {
    const wave = k >> 3
    const long = draw(3, 'long', wave) > 0
    return {
      atMs: wave * waveMs + draw(long ? waveMs : 20, 'at', k),
      job: work,
      input: {
        workMs: long ? 20_000 + draw(80_000, 'work', k) : 500 + draw(4_000, 'wave', wave),
        fails: draw(12, 'failing', k) === 0 ? 1 : 0,
        permanent: false,
      },
      options: { id: `j${k}` },
    }
  }).sort((a, b) => a.atMs - b.atMs)
}

export const crowded: Scenario = {
  name: 'crowded',
  says: 'few workers with many jobs each: much ends at once, and where one dies much is to be taken back at once',
  workers: 2,
  concurrency: 24,
  activeMs: 240_000,
  jobs: allWork,
  workload: (draw) => waves(120, draw),
  families: ['crash', 'pause', 'shutdown', 'lost-reply', 'handler-returns-unstorable'],
  swarm: false,
  density: 3,
}
