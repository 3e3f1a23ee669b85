import { describe, test } from 'vitest'
import { namedLeaseExclusive as property } from '../../src/properties/index.ts'
import { type Draft, expectHolds, expectRefused, jumped, node, said } from './dsl.ts'

const key = 'k'
const ttlMs = 10_000
type Place = { readonly at?: number; readonly by?: string }
const acquired = (owner: string, f: Place = {}): Draft => said('named.acquired', { key, owner, ttlMs, ...f })
const refused = (owner: string, f: Place = {}): Draft => said('named.refused', { key, owner, ...f })
const renewed = (owner: string, held: boolean, f: Place = {}): Draft =>
  said('named.renewed', { key, owner, ttlMs, held, ...f })
const released = (owner: string, gone = true): Draft => said('named.released', { key, owner, released: gone })
const work = (what: 'began' | 'lost' | 'ended', owner: string, f: Place = {}): Draft =>
  said(`exclusive.${what}`, { key, owner, ...f })

describe('named-lease-exclusive (contract 0.2, 11.1 - 11.3)', () => {
  test('accepts one owner after the other', () => {
    expectHolds(property, [
      acquired('x', { at: 0 }),
      refused('y', { at: 5_000 }),
      renewed('x', true, { at: 9_000 }),
      acquired('y', { at: 19_000 }),
      renewed('x', false),
      released('y'),
      acquired('x'),
    ])
  })

  test('refuses that a lease is given while it is held, also to its owner', () => {
    expectRefused(property, [acquired('x', { at: 0 }), acquired('y', { at: 9_999 })], 'acquired-while-held')
    expectRefused(property, [acquired('x'), acquired('x')], 'acquired-while-held')
  })

  test('refuses that a free or lapsed one is not given', () => {
    expectRefused(property, [refused('x')], 'refused-though-free')
    expectRefused(property, [acquired('x', { at: 0 }), refused('y', { at: 10_000 })], 'refused-though-free')
  })

  test('refuses the renewal of one that lapsed, or is not one’s own; and that an owner is refused', () => {
    expectRefused(property, [acquired('x', { at: 0 }), renewed('x', true, { at: 10_000 })], 'renewed-unheld')
    expectRefused(property, [acquired('x'), renewed('y', true)], 'renewed-unheld')
    expectRefused(property, [acquired('x'), renewed('x', false)], 'owner-refused')
  })

  test('refuses that one gives back what another owns', () => {
    expectRefused(property, [acquired('x'), released('y')], 'released-by-another')
    expectHolds(property, [acquired('x'), released('y', false)])
  })

  test('lapses by the clock of the database', () => {
    expectHolds(property, [
      acquired('x', { at: 0 }),
      jumped(9_000, { at: 100 }),
      acquired('y', { at: 1_100 }),
    ])
    const back = jumped(-9_000, { at: 100 })
    expectRefused(
      property,
      [acquired('x', { at: 0 }), back, acquired('y', { at: 11_000 })],
      'acquired-while-held',
    )
  })

  test('refuses that two are at it, or that one stays at it past its lease', () => {
    const first = [acquired('x', { at: 0 }), work('began', 'x')]
    const second = [acquired('y', { at: 10_000, by: 'w2' }), work('began', 'y', { by: 'w2' })]
    expectHolds(property, [...first, work('lost', 'x', { at: 10_000 }), ...second])
    expectRefused(property, [...first, ...second], 'worked-at-once')
    expectRefused(property, [...first, work('lost', 'x', { at: 10_001 })], 'kept-too-long')
    expectRefused(property, [...first, work('ended', 'x', { at: 10_001 })], 'kept-too-long')
  })

  test('excuses one that stood still, or died, or whose lease a jump of the clock took', () => {
    const first = [acquired('x', { at: 0 }), work('began', 'x')]
    const second = [acquired('y', { at: 10_000, by: 'w2' }), work('began', 'y', { by: 'w2' })]
    expectHolds(property, [...first, node('paused', { at: 5_000 }), ...second])
    expectHolds(property, [...first, node('crashed', { at: 5_000 }), ...second])
    const early = [acquired('y', { at: 2_000, by: 'w2' }), work('began', 'y', { by: 'w2' })]
    expectHolds(property, [...first, jumped(9_000, { at: 1_500 }), ...early])
  })
})
