import { intervals, nap } from '../../../../src/sim/explore/topologies/common.ts'
import { last, steady, work } from './naps.ts'
import { type Pair, pair } from './pair.ts'
import { type Stroke, crash, forGoodMs, lost, order, pause, slow } from './strokes.ts'

const orphaned = [work(0, steady, 'j1'), work(130, last, 'j2')]
/** Who claims the second is gone for good: evicted once, it is to run alone. */
const evicts = crash(170, 'claims.claim', forGoodMs, 'w2')

/** That job is ended by an operator, and then another is evicted. */
function endedAt(atMs: number): Stroke[] {
  return [
    crash(170, 'claims.claim', 336_000, 'w2'),
    order(atMs, 'cancel', 'j2'),
    crash(336_000, 'claims.claim', forGoodMs, 'w2'),
  ]
}

/** What the fetch loop says of itself. */
export const fetching: Readonly<Record<string, Pair>> = {
  claimsInARow: pair(
    'since when it has not given way to timers: a job ends when the loop polls anyway, and the two differ in who woke it',
    {
      intervals: { ...intervals, pollMs: 500, pollMsMax: 500 },
      work: [
        work(0, nap, 'j1', 300),
        ...Array.from({ length: 18 }, (_, k) => work(600, nap, `k${k + 1}`, 50)),
      ],
    },
    [],
    [slow(0, 'claims.claim', 520)],
  ),
  'pace.idleMs': pair(
    'how long it waits next: the one has polled once in vain, and the other twice',
    { intervals: { ...intervals, pollMs: 1_000, pollMsMax: 8_000 }, work: [work(4_000, nap, 'j1')] },
    [],
    [slow(0, 'claims.claim', 2_020)],
  ),
  'pace.full': pair(
    'whether it polls when a slot is freed: the last claim that was answered brought all that it asked for, or nothing',
    {
      sweepers: 1,
      concurrency: 2,
      intervals: { ...intervals, sweepMs: 4_000, pollMs: 10_000, pollMsMax: 10_000 },
      work: [work(0, nap, 'j1', 2_000), work(0, nap, 'j2', 14_000)],
      horizonMs: 30_000,
    },
    [{ atMs: 150, family: 'outage-long', forMs: 7_000, call: 'watch.move' }],
    [slow(2_000, 'claims.claim', 4_980), { atMs: 7_110, family: 'swap' }],
  ),
  'claiming.unknownInARow': pair(
    'how many claims in a row were not answered: after the second it backs off',
    {
      intervals: { ...intervals, pollMs: 4_980, pollMsMax: 4_980 },
      work: [work(50_000, nap, 'j1')],
      horizonMs: 60_000,
    },
    [lost(0, 'claims.claim'), lost(5_000, 'claims.claim')],
    [lost(5_000, 'claims.claim')],
  ),
  'solo.awaitingUntilAtMs': pair(
    'until when it claims nothing for a job that is to run alone; meanwhile it cannot renew, and polls for that',
    {
      workers: 3,
      concurrency: 2,
      jobs: [nap, last],
      intervals: { ...intervals, sweepMs: 4_000, heartbeatRetryMs: 5_000 },
      work: [work(0, nap, 'j1'), work(21_180, last, 'j2'), work(42_290, last, 'j3')],
      horizonMs: 100_000,
    },
    [
      crash(21_000, 'claims.claim', forGoodMs, 'w2'),
      crash(42_000, 'claims.claim', forGoodMs, 'w3'),
      ...[50_000, 60_000, 70_000].map((atMs) => lost(atMs, 'claims.renew')),
    ],
    [
      crash(21_000, 'claims.claim', forGoodMs, 'w2'),
      crash(42_000, 'claims.claim', forGoodMs, 'w3'),
      lost(50_000, 'claims.renew'),
      slow(59_100, 'claims.claim', 700),
      ...[60_000, 70_000].map((atMs) => lost(atMs, 'claims.renew')),
    ],
  ),
  'solo.passUntilAtMs': pair(
    'until when it passes over a job that is to run alone: both have waited for it in vain, the one for longer',
    { workers: 2, concurrency: 2, jobs: [steady, last], work: orphaned, horizonMs: 400_000 },
    [evicts, pause(84_000, 'watch.move', 4_000)],
    [evicts, slow(43_000, 'claims.claim', 4_900), pause(84_000, 'watch.move', 4_000)],
  ),
  'solo.patienceMs': pair(
    'how long it will wait for a job that is to run alone: the one has waited for another in vain, long ago',
    {
      workers: 2,
      concurrency: 2,
      jobs: [steady, last],
      work: [...orphaned, work(336_180, last, 'j3')],
      horizonMs: 420_000,
    },
    endedAt(42_000),
    endedAt(78_000),
  ),
}
