// What a process at rest says of itself is what decides its future, and no less: each member of it is needed.
import { describe, expect, test } from 'vitest'
import type { RestState } from '../../../src/engine/rest-state.ts'
import { type Difference, audit } from '../../../src/sim/explore/audit.ts'
import { intervals } from '../../../src/sim/explore/topologies/common.ts'
import { fetching } from './resting/fetching.ts'
import { leasing } from './resting/leasing.ts'
import { membersOf, without } from './resting/members.ts'
import { napping, work } from './resting/naps.ts'
import { type Pair, pair } from './resting/pair.ts'
import { type Stood, met, retold } from './resting/retold.ts'
import { late, pause, slow } from './resting/strokes.ts'
import { sweeping } from './resting/sweeping.ts'

const under = (path: string, pairs: Readonly<Record<string, Pair>>): [string, Pair][] =>
  Object.entries(pairs).map(([name, shown]) => [`${path}.${name}`, shown])
const shown = new Map([
  ...under('working.fetching', fetching),
  ...under('working.leasing', leasing),
  ...under('sweeping', sweeping),
])

/** Looked at of the states in which two schedules meet, and of what may come after each. */
const [audited, continuations] = [4, 8]

async function firstDifference(
  { topology }: Pair,
  meetings: readonly (readonly [Stood, Stood])[],
): Promise<Difference | null> {
  for (const [pruned, known] of meetings.slice(0, audited)) {
    const difference = await audit(topology, { pruned: pruned.place, known: known.place }, continuations)
    if (difference) return difference
  }
  return null
}

const both = async (
  { topology, one, other }: Pair,
  heeded = (rest: RestState) => rest,
): Promise<Stood[][]> => [await retold(topology, one, heeded), await retold(topology, other, heeded)]

const whole = (stood: Stood): string => stood.whole
const less = (stood: Stood): string => stood.less

describe('what a process at rest says of itself', () => {
  test.each([...shown])('needs %s', async (member, told) => {
    const [one = [], other = []] = await both(told, (rest) => without(rest, member.split('.')))
    const taken = met(one, other, less).filter(([a, b]) => a.whole !== b.whole)
    expect(taken.length).toBeGreaterThan(0)
    expect(await firstDifference(told, taken)).not.toBe(null)
  })

  test.each([...shown])('is whole where it needs %s', async (_, told) => {
    const [one = [], other = []] = await both(told)
    expect(await firstDifference(told, met(one, other, whole))).toBe(null)
  })

  test('is all that was looked at here', async () => {
    const said = new Set<string>()
    for (const told of shown.values())
      await both(told, (rest) => {
        for (const member of membersOf(rest)) said.add(member)
        return rest
      })
    expect([...said].sort()).toEqual([...shown.keys()].sort())
  })
})

const [first, second] = [
  napping('first', { leaseTtlMs: 22_200, timeoutMs: 120_000 }),
  napping('second', { leaseTtlMs: 30_000, timeoutMs: 120_020 }),
]
/**
 * The claim of both is answered while the process sleeps. Of the one, the second job starts when it wakes, and the
 * first 40 ms later, when a renewal has shown that it may; of the other, both start in the middle of that. So there are
 * the same timers, and other jobs to them.
 */
const ofTwo = pair(
  'which timer is whose',
  {
    sweepers: 1,
    concurrency: 3,
    jobs: [first, second],
    intervals: { ...intervals, sweepMs: 2_000 },
    work: [work(3_000, first, 'j1', 60_000), work(3_000, second, 'j2', 60_020)],
    horizonMs: 100_000,
  },
  [
    slow(7_000, 'claims.claim', 2_975),
    pause(10_000, 'claims.claim', 21_500),
    late(31_000, 'claims.renew', 20),
    pause(37_600, 'watch.move', 2_875),
  ],
  [
    slow(7_000, 'claims.claim', 2_985),
    pause(10_000, 'claims.renew', 21_515),
    pause(37_600, 'watch.move', 2_855),
  ],
)

test('a process with two attempts does not rest: nothing says which timer is whose', async () => {
  const [one = [], other = []] = await both(ofTwo)
  expect(await firstDifference(ofTwo, met(one, other, whole))).toBe(null)
})
