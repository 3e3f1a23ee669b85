import { PermanentFailure } from '../../../engine/errors.ts'
import { type HandledJob, defineJob } from '../../../engine/jobs/definition.ts'
import { deadLetterIffFailed } from '../../../properties/dead-letter-iff-failed.ts'
import { leaseLasts } from '../../../properties/lease-lasts.ts'
import { replayedOnceAndWhole } from '../../../properties/replayed-once-and-whole.ts'
import type { Topology } from '../topology.ts'
import { type Nap, coreWithout, intervals, overCallMs, overLeaseMs, underCallMs } from './common.ts'

/** It sleeps once, and fails for good, however often it is replayed. */
const fall: HandledJob<Nap> = defineJob<Nap>({
  name: 'fall',
  leaseTtlMs: 30_000,
  timeoutMs: 120_000,
  retry: { maxAttempts: 3, maxEvictions: 3, backoff: { kind: 'constant', delayMs: 1_000, jitter: false } },
  run: async ({ input, sleep }) => {
    await sleep(input.forMs)
    throw new PermanentFailure('it can never work')
  },
})

const calls = ['deadLetters.replay', 'jobs.settle']

export const replayRace: Topology = {
  name: 'replay-race',
  says: 'two replay the same dead letter, and it fails again, while what they send is lost or late, and one of them dies',
  workers: 1,
  sweepers: 0,
  concurrency: 1,
  intervals,
  jobs: [fall],
  work: [{ atMs: 0, job: fall, input: { forMs: 2_000 }, options: { id: 'j1' } }],
  orders: [
    { atMs: 12_000, command: 'replay', job: 'j1' },
    { atMs: 12_000, command: 'replay', job: 'j1', through: 'w1' },
    { atMs: 25_000, command: 'replay', job: 'j1~r1' },
  ],
  horizonMs: 45_000,
  faults: [
    { family: 'operator', order: { command: 'retry', job: 'j1' }, calls },
    { family: 'operator', order: { command: 'discard', job: 'j1' }, calls },
    { family: 'lost-request', calls },
    { family: 'lost-reply', calls },
    { family: 'late-request', forMs: overCallMs, calls },
    { family: 'slow-reply', forMs: underCallMs, calls },
    { family: 'crash', forMs: underCallMs, nodes: ['w1'], calls },
    { family: 'pause', forMs: overLeaseMs, nodes: ['w1'], calls },
    { family: 'database-restart', forMs: 500, lands: true, calls },
  ],
  properties: [...coreWithout(leaseLasts), deadLetterIffFailed, replayedOnceAndWhole],
  deviations: 2,
}
