import { describe, expect, test } from 'vitest'
import { Frontier } from '../../../src/sim/explore/frontier.ts'
import { type Shared, at, createShared } from '../../../src/sim/explore/shared.ts'
import { TooMuch } from '../../../src/sim/explore/too-much.ts'

const shared = (): Shared => createShared(1, 0, { statesMax: 2, schedulesMax: 8 })

describe('schedules that are left', () => {
  const dealt = (all: Shared, count: number): number[] => [...all.order.subarray(0, count)]

  test('begin with the default one', () => {
    const all = shared()
    const frontier = new Frontier(all)
    expect(frontier.begin()).toBe(1)
    expect(frontier.pathOf(all.order[0] as number)).toEqual([])
  })

  test('are dealt level by level, the earliest first, or in reverse', () => {
    for (const reversed of [false, true]) {
      const all = shared()
      const frontier = new Frontier(all)
      frontier.begin()
      frontier.add(0, 9, 0, 900)
      frontier.add(0, 5, 1, 500)
      frontier.add(0, 5, 0, 500)
      const count = frontier.begin(reversed)
      const paths = dealt(all, count).map((run) => frontier.pathOf(run))
      const earliestFirst = [[{ step: 5, nth: 1 }], [{ step: 5, nth: 0 }], [{ step: 9, nth: 0 }]]
      expect(paths).toEqual(reversed ? earliestFirst.toReversed() : earliestFirst)
      expect(all.control[at.size]).toBe(3)
      expect(frontier.begin()).toBe(0)
    }
  })

  test('know where they left all those before', () => {
    const all = shared()
    const frontier = new Frontier(all)
    frontier.begin()
    frontier.add(0, 4, 2, 40)
    frontier.begin()
    const [first] = dealt(all, 1)
    frontier.add(first as number, 6, 0, 60)
    frontier.begin()
    const [second] = dealt(all, 1)
    expect(frontier.pathOf(second as number)).toEqual([
      { step: 4, nth: 2 },
      { step: 6, nth: 0 },
    ])
  })

  test('are told by when they leave, and by when they came to what is known', () => {
    const all = createShared(1, 0, { statesMax: 2, schedulesMax: 128 })
    const frontier = new Frontier(all)
    frontier.begin()
    for (const atMs of [500, 1_500, 1_700, 60_000]) frontier.add(0, 1, 0, atMs)
    frontier.begin()
    const [first, second, third] = dealt(all, 4) as [number, number, number]
    frontier.ended(first, null)
    frontier.ended(second, 2_000)
    frontier.ended(third, 0)
    const { binMs, ...bins } = frontier.spread(60_000)
    expect(binMs).toBe(1_000)
    const filled = Object.entries(bins).map(([name, counts]) => [
      name,
      counts.length,
      Object.fromEntries([...counts.entries()].filter(([, count]) => count > 0)),
    ])
    expect(filled).toEqual([
      ['left', 60, { 0: 1, 1: 2, 59: 1 }],
      ['pruned', 60, { 1: 2 }],
      ['joined', 60, { 0: 1, 2: 1 }],
      ['unwalked', 60, { 59: 1 }],
    ])
    expect(frontier.spread(5)).toMatchObject({ binMs: 1, left: [0, 0, 0, 0, 4] })
  })

  test('are refused when there is no more room', () => {
    const frontier = new Frontier(shared())
    const add = (): void => {
      for (let k = 0; k < 8; k++) frontier.add(0, k, 0, k)
    }
    expect(add).toThrow(TooMuch)
  })
})
