import { intervals, nap } from '../../../../src/sim/explore/topologies/common.ts'
import { work } from './naps.ts'
import { type Pair, pair } from './pair.ts'
import { late, pause, slow } from './strokes.ts'

/** What the recovery says of itself. */
export const sweeping: Readonly<Record<string, Pair>> = {
  turn: pair(
    'in which turn it looks after what is but a backstop: the one has slept through a turn',
    {
      sweepers: 1,
      intervals: { ...intervals, pollMs: 13_000, pollMsMax: 13_000 },
      work: [work(20_000, nap, 'j1')],
      horizonMs: 50_000,
    },
    [],
    [pause(50, 'watch.move', 11_980)],
  ),
  dueAtMs: pair(
    'how late its turn is, and so whether it looks at leases: both sleep, and their turns were due at other times',
    {
      sweepers: 1,
      intervals: { ...intervals, heartbeatMs: 4_250 },
      work: [work(0, nap, 'j1')],
      horizonMs: 20_000,
    },
    [{ atMs: 6_000, family: 'pause', forMs: 700, node: 'w1' }, pause(8_000, 'claims.renew', 4_300)],
    [late(6_000, 'watch.move', 700), pause(8_000, 'claims.renew', 4_300)],
  ),
  'heard.nowAtMs': pair(
    'what time it was in the database when that answered last: the move of the one was late, the answer of the other slow',
    { sweepers: 1, work: [work(7_000, nap, 'j1')], horizonMs: 20_000 },
    [late(5_000, 'watch.move', 50)],
    [slow(5_000, 'watch.move', 50)],
  ),
  'heard.atMs': pair(
    'how long ago the database answered last: the answer of the one was slow',
    { work: [work(4_000, nap, 'j1')] },
    [],
    [slow(0, 'watch.move', 2_000)],
  ),
}
