import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Chooser, Diverged, listChooser, seededChooser } from '../../src/sim/chooser.ts'
import { seedMax } from '../../src/sim/seed.ts'

const draw = (chooser: Chooser, k: number): number => chooser.below(1_000_000, 'latency', 'w1', 'claim', k)
const seeds = fc.bigInt({ min: 0n, max: seedMax })

describe('a draw is a function of its name (B02)', () => {
  test('draws for other things, before and between, move none', () => {
    const other = fc.record({
      stream: fc.constantFrom('latency', 'fault', 'workload'),
      who: fc.string(),
      what: fc.string(),
      ordinal: fc.nat(),
    })
    fc.assert(
      fc.property(seeds, fc.array(other), (seed, others) => {
        const alone = seededChooser(seed, false)
        const among = seededChooser(seed, true)
        for (const { stream, who, what, ordinal } of others) {
          among.below(10, stream, who, what, ordinal)
          expect(draw(among, ordinal)).toBe(draw(alone, ordinal))
        }
      }),
    )
  })

  test('each part of the name, and each half of the seed, matters', () => {
    const names: [string, string, string, number][] = [
      ['a', 'b', 'c', 0],
      ['x', 'b', 'c', 0],
      ['a', 'x', 'c', 0],
      ['a', 'b', 'x', 0],
      ['a', 'b', 'c', 1],
      ['b', 'a', 'c', 0],
      ['ab', '', 'c', 0],
      ['a', 'bc', '', 0],
    ]
    const seeds = [0n, 1n, 1n << 32n, (1n << 32n) + 1n, 2n ** 53n, 2n ** 53n + 1n, seedMax]
    const drawn = seeds.flatMap((seed) =>
      names.map((name) => seededChooser(seed, false).below(2 ** 53, ...name)),
    )
    expect(new Set(drawn).size).toBe(drawn.length)
  })

  test('stays below its bound, up to 2^53', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 2 ** 53 - 1 }), fc.nat(), (seed, bound, ordinal) => {
        const drawn = seededChooser(seed, false).below(bound, 'a', 'b', 'c', ordinal)
        expect(Number.isSafeInteger(drawn) && drawn >= 0 && drawn < bound).toBe(true)
      }),
    )
  })

  test.each([
    ['over the ordinals of one seed', (k: number) => seededChooser(7n, false).below(16, 'a', 'b', 'c', k)],
    ['over neighbouring seeds', (k: number) => seededChooser(BigInt(k), false).below(16, 'a', 'b', 'c', 0)],
    [
      'over seeds that differ in their upper half',
      (k: number) => seededChooser(BigInt(k) << 32n, false).below(16, 'a', 'b', 'c', 0),
    ],
  ])('is even %s', (_, drawn) => {
    const counts = Array.from({ length: 16 }, () => 0)
    const draws = 32_000
    for (let k = 0; k < draws; k++) counts[drawn(k)] = (counts[drawn(k)] ?? 0) + 1
    const expected = draws / 16
    const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // 15 degrees of freedom: over 44 once in 10,000 times, and far over it for any lopsidedness.
    expect(chiSquare).toBeLessThan(44)
  })

  test('draws of two names are independent of each other', () => {
    const table = Array.from({ length: 16 }, () => 0)
    for (let k = 0; k < 32_000; k++) {
      const chooser = seededChooser(BigInt(k), false)
      const cell = 4 * chooser.below(4, 'a', 'b', 'x', 0) + chooser.below(4, 'a', 'b', 'y', 0)
      table[cell] = (table[cell] ?? 0) + 1
    }
    expect(table.reduce((sum, count) => sum + (count - 2_000) ** 2 / 2_000, 0)).toBeLessThan(44)
  })
})

describe('a strict list', () => {
  const record = (): number[] => {
    const chooser = seededChooser(5n, true)
    for (let k = 0; k < 10; k++) draw(chooser, k)
    return chooser.list ?? []
  }
  const hooks = (): { eventNow: () => number; diverged: (error: Diverged) => void; told: Diverged[] } => {
    const told: Diverged[] = []
    return { eventNow: () => 1841, diverged: (error) => void told.push(error), told }
  }

  test('answers what was drawn', () => {
    const chooser = listChooser(record(), hooks())
    const again = seededChooser(5n, false)
    for (let k = 0; k < 10; k++) expect(draw(chooser, k)).toBe(draw(again, k))
  })

  test('answers an edited value as it stands', () => {
    const draws = record()
    draws[5] = 17
    const chooser = listChooser(draws, hooks())
    expect([0, 1, 2].map((k) => draw(chooser, k))[2]).toBe(17)
  })

  test.each([
    ['another choice is made', (chooser: Chooser) => chooser.below(1_000_000, 'jitter', 'w1', 'claim', 2)],
    ['the value is over the bound', (chooser: Chooser) => chooser.below(1, 'latency', 'w1', 'claim', 2)],
  ])('diverges, telling its name, its place and the event, when %s', (_, third) => {
    const heard = hooks()
    const chooser = listChooser(record(), heard)
    draw(chooser, 0)
    draw(chooser, 1)
    expect(() => third(chooser)).toThrow(Diverged)
    expect(heard.told[0]?.message).toMatch(/at event 1841: choice 3 is (jitter|latency) of w1 for claim here/)
  })

  test('diverges at its end', () => {
    const chooser = listChooser([], hooks())
    expect(() => draw(chooser, 0)).toThrow(/choice 1 /)
  })
})
