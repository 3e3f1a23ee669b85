import { describe, expect, test } from 'vitest'
import { createNodeClock } from '../../../src/sim/clock/node-clock.ts'
import type { Fault } from '../../../src/sim/faults/fault.ts'
import { familyNamed } from '../../../src/sim/faults/index.ts'
import { drifting } from '../../../src/sim/scenarios/drifting.ts'
import { longHaul } from '../../../src/sim/scenarios/long-haul.ts'
import { type HandWorld, handWorld, play } from '../support.ts'

const drift = (driftPpm: number, forMs = 1_000_000): Fault => ({
  id: 'drift #1',
  family: 'drift',
  atMs: 0,
  node: 'w1',
  driftPpm,
  forMs,
})

const strike = ({ world, act }: HandWorld, fault: Fault): Promise<void> =>
  act(() => familyNamed('drift')?.strike(world, fault))

/** When timers fire, in true time. */
async function firings(hand: HandWorld, delaysMs: readonly number[]): Promise<readonly number[]> {
  const firedAtMs: number[] = []
  const clock = createNodeClock(hand.world, hand.owner(), 0)
  await hand.act(() => {
    for (const delayMs of delaysMs) clock.timer(delayMs, 'x', () => firedAtMs.push(hand.world.nowMs))
  })
  return firedAtMs
}

describe('a clock that runs fast or slow', () => {
  test.each([
    [10_000, 99_010],
    [-10_000, 101_011],
    [0, 100_000],
  ])('by %d millionths has a timer of 100 s fire after %d true ms', async (ppm, trueMs) => {
    const hand = await handWorld()
    await strike(hand, drift(ppm))
    const firedAtMs = await firings(hand, [100_000])
    await hand.until(200_000)
    expect(firedAtMs).toEqual([trueMs])
  })

  test('moves the timers that wait already, and lets go of them when it is right again', async () => {
    const hand = await handWorld()
    const firedAtMs = await firings(hand, [50_000, 100_000])
    await strike(hand, drift(-10_000, 60_000))
    await hand.until(200_000)
    // 60 s were counted as 59.4, and the rest is counted rightly.
    expect(firedAtMs).toEqual([50_506, 100_601])
  })

  test('runs on without a jump when its rate changes, monotonic and wall time alike', async () => {
    const hand = await handWorld()
    const clock = createNodeClock(hand.world, hand.owner(), 500)
    const wallMs = clock.wallMs()
    await strike(hand, drift(10_000, 100_000))
    const seen: number[] = []
    for (const atMs of [1, 50_000, 99_999, 100_000, 100_001, 200_000]) {
      await hand.until(atMs)
      seen.push(clock.monotonicMs())
    }
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    expect(seen.at(-1)).toBeCloseTo(hand.world.nowMs + 1_000 + 500, 3)
    expect(clock.wallMs() - wallMs).toBe(hand.world.nowMs + 1_000)
  })
})

test('every promise holds while clocks drift', async () => {
  const { verdict, strikes, tallies } = await play({ scenario: drifting, seed: 2n })
  expect([verdict, strikes['drift']]).toEqual(['pass', expect.any(Number)])
  expect(tallies.find(({ name }) => name === 'named-lease-exclusive')?.evaluations).toBeGreaterThan(0)
})

test('jobs of weeks run on time, without a hot loop, though no timer can wait for so long (E17)', async () => {
  const { verdict, events, simulatedMs, story } = await play({
    scenario: longHaul,
    seed: 4n,
    plan: [],
    keepStory: true,
  })
  expect(verdict).toBe('pass')
  expect(simulatedMs).toBeGreaterThan(60 * 86_400_000)
  expect(events).toBeLessThan(20_000)
  const sleeps = (story ?? []).filter((line) => 'step' in line && line.label === 'sleep')
  expect(sleeps.length).toBeGreaterThan(8)
})
