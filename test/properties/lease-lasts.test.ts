import { describe, test } from 'vitest'
import { leaseLasts as property } from '../../src/properties/index.ts'
import { claimed, expectHolds, expectRefused, jumped, reclaimed, recovered, renewed } from './dsl.ts'

describe('lease-lasts (contract 0.2, 0.8, 4.3)', () => {
  test('accepts what is taken back once a TTL has passed since its last claim, recovery or renewal', () => {
    expectHolds(property, [claimed('a', { at: 0 }), reclaimed('a', { at: 30_000 })], 1)
    const kept = [recovered('a', { at: 10_000 }), renewed('a', { at: 20_000 })]
    expectHolds(property, [claimed('a', { at: 0 }), ...kept, reclaimed('a', { at: 50_000 })], 1)
  })

  test.each([
    ['a claim', [], 29_999],
    ['a recovery', [recovered('a', { at: 10_000 })], 39_999],
    ['a renewal', [renewed('a', { at: 20_000 })], 49_999],
  ])('refuses what is taken back before, counted from %s', (_what, kept, at) => {
    expectRefused(property, [claimed('a', { at: 0 }), ...kept, reclaimed('a', { at })], 'taken-early')
  })

  test("goes by the database's clock, and lets a lease go that the clock was set back behind", () => {
    expectHolds(property, [
      claimed('a', { at: 0 }),
      jumped(20_000, { at: 5_000 }),
      reclaimed('a', { at: 10_000 }),
    ])
    expectHolds(property, [
      claimed('a', { at: 0 }),
      jumped(-60_000, { at: 5_000 }),
      reclaimed('a', { at: 6_000 }),
    ])
    const back = [claimed('a', { at: 0 }), jumped(-5_000, { at: 10_000 })]
    expectRefused(property, [...back, reclaimed('a', { at: 31_000 })], 'taken-early')
  })

  test('refuses that one sweep takes back what lapsed later first', () => {
    const two = [claimed('a', { at: 0 }), claimed('b', { at: 5_000 })]
    const at = { at: 40_000 }
    expectHolds(property, [...two, reclaimed('a', at), reclaimed('b', at)], 2)
    expectRefused(property, [...two, reclaimed('b', at), reclaimed('a', at)], 'taken-out-of-order')
    expectHolds(property, [...two, reclaimed('b', at), reclaimed('a', { at: 41_000 })], 2)
  })
})
