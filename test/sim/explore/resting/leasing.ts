import { intervals, nap } from '../../../../src/sim/explore/topologies/common.ts'
import { napping, work } from './naps.ts'
import { type Pair, pair } from './pair.ts'
import { anew, crash, forGoodMs, late, lost, pause, slow, unanswered } from './strokes.ts'

const long = napping('long', { leaseTtlMs: 60_000 })
/** What is told an attempt at its start shows at its end. */
const flaky = napping('flaky', {}, async ({ input, sleep, attempt }) => {
  await sleep(input.forMs)
  if (attempt.failures + attempt.evictions === 0) throw new Error('the first time')
})
const shorter = napping('shorter', { leaseTtlMs: 22_200 })
const shortest = napping('shortest', { leaseTtlMs: 21_900 })
const abortable = napping('abortable', { onUncertainLease: 'abort' })

/** What the heartbeat, and the claims that it renews, say of themselves. */
export const leasing: Readonly<Record<string, Pair>> = {
  'beat.dueAtMs': pair(
    'how late the heartbeat is, and so whether it tells of a stall: both sleep, and it was due at other times',
    {
      jobs: [nap, long],
      intervals: { ...intervals, pollMs: 2_000, pollMsMax: 2_000 },
      work: [work(9_000, long, 'j1', 1_000), work(11_500, nap, 'j2')],
      horizonMs: 30_000,
    },
    [late(10_150, 'claims.claim', 700), pause(18_000, 'watch.move', 2_990)],
    [slow(8_100, 'claims.claim', 700), pause(18_000, 'watch.move', 2_990)],
  ),
  'beat.stallTold': pair(
    'whether the stall has been told of: of the one a settle was confirmed just before the heartbeat',
    {
      concurrency: 2,
      work: [work(0, nap, 'j1', 4_900), work(0, nap, 'j2')],
      horizonMs: 20_000,
    },
    [slow(4_900, 'jobs.settle', 1_500), pause(6_000, 'watch.move', 4_690)],
    [pause(6_000, 'watch.move', 4_690)],
  ),
  'claims.token': pair(
    'which claim is unknown: the one that has landed, or one that has not, while another worker holds the job',
    { workers: 2, intervals: { ...intervals, heartbeatMs: 12_000 } },
    [
      late(0, 'claims.claim', 70),
      crash(100, 'watch.declare', 40_020, 'w2'),
      unanswered(170, 'claims.claim'),
      lost(5_000, 'claims.recover'),
    ],
    [lost(0, 'claims.claim'), crash(170, 'claims.claim', 40_000, 'w2'), lost(5_000, 'claims.recover')],
  ),
  'claims.sentAtMs': pair(
    'until when the lease can be vouched for: the answer to the renewal of the one was lost',
    {
      intervals: { ...intervals, heartbeatRetryMs: 5_000, sweepMs: 4_000 },
      work: [work(0, nap, 'j1')],
      horizonMs: 50_000,
    },
    [lost(15_000, 'claims.renew')],
    [unanswered(5_000, 'claims.renew'), lost(15_000, 'claims.renew')],
  ),
  'claims.attempts.fence': pair(
    'which job it runs: both jobs have been taken back since, so that their rows say nothing of it',
    {
      workers: 2,
      sweepers: 1,
      work: [work(0, nap, 'j1'), work(0, nap, 'j2')],
      horizonMs: 60_000,
    },
    [
      late(0, 'claims.claim', 70),
      crash(170, 'claims.claim', forGoodMs, 'w2'),
      pause(6_000, 'watch.move', 40_000),
    ],
    [
      late(0, 'claims.claim', 70),
      { atMs: 165, family: 'swap' },
      crash(170, 'claims.claim', forGoodMs, 'w2'),
      pause(6_000, 'watch.move', 40_000),
    ],
  ),
  'claims.attempts.failures': pair(
    'what its handler was told: the job was taken back and begun anew since, so that its row says something else',
    { sweepers: 1, jobs: [flaky], work: [work(0, flaky, 'j1', 10_000)], horizonMs: 90_000 },
    [pause(18_000, 'watch.move', 52_000), ...anew(54_000, 'j1'), ...anew(60_000, 'j1')],
    [...anew(12_000, 'j1'), pause(18_000, 'watch.move', 52_000), ...anew(60_000, 'j1')],
  ),
  'claims.attempts.evictions': pair(
    'what its handler was told, and whether it runs alone: likewise',
    { sweepers: 1, jobs: [flaky], work: [work(0, flaky, 'j1', 20_000)], horizonMs: 130_000 },
    [
      crash(6_000, 'watch.move', 1_000),
      pause(46_000, 'watch.move', 60_000),
      ...anew(84_000, 'j1'),
      ...anew(90_000, 'j1'),
    ],
    [
      crash(6_000, 'watch.move', 1_000),
      ...anew(31_000, 'j1'),
      pause(46_000, 'watch.move', 60_000),
      ...anew(90_000, 'j1'),
    ],
  ),
  'claims.attempts.certain': pair(
    'whether it was told that it cannot be vouched for: what will say so is about it, or about another that is over',
    {
      concurrency: 3,
      jobs: [shorter, shortest],
      intervals: {
        ...intervals,
        pollMs: 1_480,
        pollMsMax: 12_000,
        sweepMs: 2_450,
        heartbeatRetryMs: 3_500,
      },
      work: [work(0, shorter, 'j1'), work(1_000, shortest, 'j2', 17_000)],
      horizonMs: 60_000,
    },
    [
      lost(7_000, 'claims.renew'),
      lost(15_000, 'claims.renew'),
      { atMs: 22_200, family: 'pause', forMs: 7_710, node: 'w1' },
    ],
    [
      slow(1_500, 'claims.claim', 4_000),
      lost(7_000, 'claims.renew'),
      lost(15_000, 'claims.renew'),
      { atMs: 23_400, family: 'pause', forMs: 6_510, node: 'w1' },
    ],
  ),
  'claims.attempts.reasons': pair(
    'why its handler is to end when it starts: it became uncertain before, or its claim was answered too late',
    {
      workers: 2,
      sweepers: 1,
      jobs: [abortable],
      intervals: { ...intervals, sweepMs: 4_000, pollMs: 3_000, pollMsMax: 3_000 },
      work: [work(0, abortable, 'j1'), work(2_000, abortable, 'j2')],
      horizonMs: 60_000,
    },
    [
      { atMs: 110, family: 'pause', forMs: 30_900, node: 'w1', skip: 2 },
      crash(3_000, 'claims.claim', forGoodMs, 'w2'),
      unanswered(30_000, 'claims.renew'),
    ],
    [
      pause(100, 'claims.claim', 30_900),
      crash(3_000, 'claims.claim', forGoodMs, 'w2'),
      unanswered(30_000, 'claims.renew'),
    ],
  ),
}
