import { oneFiringPerSlot } from '../../../properties/one-firing-per-slot.ts'
import type { Topology } from '../topology.ts'
import { intervals, nap, overCallMs, underCallMs } from './common.ts'

const calls = ['schedules.due', 'schedules.fire']

export const scheduleHandOver: Topology = {
  name: 'schedule-hand-over',
  says: 'two processes fire one schedule: whoever comes first, slot by slot',
  workers: 2,
  sweepers: 0,
  concurrency: 1,
  // Only the schedule counts, so they look for no jobs and sweep once.
  intervals: { ...intervals, pollMs: 60_000, pollMsMax: 60_000 },
  jobs: [nap],
  work: [],
  schedules: [{ atMs: 30, key: 'beat', does: { job: nap, input: { forMs: 1 }, everyMs: 10_000 } }],
  horizonMs: 36_000,
  faults: [
    { family: 'lost-request', calls },
    { family: 'lost-reply', calls },
    { family: 'late-request', forMs: underCallMs, calls },
    { family: 'late-request', forMs: overCallMs, calls },
    { family: 'slow-reply', forMs: underCallMs, calls },
    { family: 'pause', forMs: overCallMs, calls },
    { family: 'crash', forMs: underCallMs, calls },
  ],
  properties: [oneFiringPerSlot],
  deviations: 2,
}
