import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Seen } from '../../../src/sim/explore/seen.ts'
import { type Shared, createShared } from '../../../src/sim/explore/shared.ts'
import { TooMuch } from '../../../src/sim/explore/too-much.ts'

const shared = (): Shared => createShared(1, 0, { statesMax: 64, schedulesMax: 8 })
const keyOf = (k: number): Int32Array => Int32Array.of(k, 0, k * 7, -k)

describe('states that were met', () => {
  test('are new once, and again where they are met earlier', () => {
    const seen = new Seen(shared().seen)
    const by = new Int32Array(2)
    expect(seen.isNew(keyOf(1), 500, 3, 40, by)).toBe(true)
    expect(seen.isNew(keyOf(1), 500, 4, 41, by)).toBe(false)
    expect([...by]).toEqual([3, 40])
    expect(seen.isNew(keyOf(1), 900, 5, 42, by)).toBe(false)
    expect(seen.isNew(keyOf(1), 0, 6, 43, by)).toBe(true)
    expect(seen.isNew(keyOf(1), 500, 7, 44, by)).toBe(false)
    expect([...by]).toEqual([6, 43])
    expect(seen.distinct).toBe(1)
  })

  test('are told apart by every bit of their identity, also where they fall on one place', () => {
    const seen = new Seen(shared().seen)
    const by = new Int32Array(2)
    const keys = [0, 1, 2, 3].flatMap((word) =>
      [0, 31].map((bit) => Int32Array.from({ length: 4 }, (_, k) => (k === word ? 1 << bit : 0))),
    )
    for (const key of keys) expect(seen.isNew(key, 1, 0, 0, by)).toBe(true)
    for (const key of keys) expect(seen.isNew(key, 1, 0, 0, by)).toBe(false)
    expect(seen.distinct).toBe(keys.length)
  })

  test('are as many as a map says, with its times', () => {
    const met = fc.array(fc.tuple(fc.nat(25), fc.nat(10)), { maxLength: 200 })
    fc.assert(
      fc.property(met, (sequence) => {
        const seen = new Seen(shared().seen)
        const earliest = new Map<number, number>()
        for (const [k, atMs] of sequence) {
          const known = earliest.get(k)
          const isNew = known === undefined || atMs < known
          expect(seen.isNew(keyOf(k), atMs, 0, 0, new Int32Array(2))).toBe(isNew)
          if (isNew) earliest.set(k, atMs)
        }
        expect(seen.distinct).toBe(earliest.size)
      }),
    )
  })

  test('are refused when there is no more room, never forgotten', () => {
    const seen = new Seen(shared().seen)
    const meet = (): void => {
      for (let k = 0; k < 64; k++) seen.isNew(keyOf(k), 0, 0, 0, new Int32Array(2))
    }
    expect(meet).toThrow(TooMuch)
  })
})
