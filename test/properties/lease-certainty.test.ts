import { describe, test } from 'vitest'
import { leaseCertainty as property } from '../../src/properties/index.ts'
import {
  attempt,
  attemptEnded,
  claimed,
  expectHolds,
  expectRefused,
  fault,
  node,
  recovered,
  renewed,
  started,
} from './dsl.ts'

describe('lease-certainty (contract 0.21)', () => {
  test('accepts a start, and certainty, within the TTL of what landed last', () => {
    expectHolds(property, [
      claimed('a', { at: 0 }),
      recovered('a', { at: 20_000 }),
      started('a', { at: 49_999 }),
      attempt('uncertain', 'a', { at: 50_000 }),
      renewed('a', { at: 90_000 }),
      attempt('certain', 'a', { at: 90_010 }),
      attemptEnded('a', { at: 100_000 }),
    ])
  })

  test('refuses a start past it, also of an epoch that is over', () => {
    expectRefused(property, [claimed('a', { at: 0 }), started('a', { at: 30_000 })], 'started-past-its-lease')
    const zombie = [claimed('a', { at: 0 }), claimed('a', { at: 31_000, epoch: 2, by: 'w2' })]
    expectRefused(property, [...zombie, started('a', { at: 40_000 })], 'started-past-its-lease')
    const other = renewed('a', { at: 20_000, by: 'w2' })
    expectRefused(
      property,
      [claimed('a', { at: 0 }), other, started('a', { at: 31_000 })],
      'started-past-its-lease',
    )
  })

  test('refuses certainty past it', () => {
    expectRefused(
      property,
      [claimed('a', { at: 0 }), attempt('certain', 'a', { at: 30_000 })],
      'certain-past-its-lease',
    )
  })

  test('refuses that a worker learns too late, or never, that it cannot vouch for a lease', () => {
    const run = [claimed('a', { at: 0 }), started('a')]
    expectRefused(property, [...run, attempt('uncertain', 'a', { at: 30_001 })], 'uncertain-late')
    expectRefused(property, [...run, attemptEnded('a', { at: 30_001 })], 'vouched-too-long')
  })

  test('excuses one that stood still, or whose timers were late', () => {
    const run = [claimed('a', { at: 0 }), started('a')]
    const asleep = [node('paused', { at: 1_000 }), node('resumed', { at: 40_000 })]
    expectHolds(property, [...run, ...asleep, attemptEnded('a')])
    const late = fault('timers', { at: 1_000, forMs: 5_000 })
    expectHolds(property, [...run, late, attempt('uncertain', 'a', { at: 31_000 })])
    expectRefused(
      property,
      [...run, fault('lost-reply', { at: 1_000 }), attempt('uncertain', 'a', { at: 31_000 })],
      'uncertain-late',
    )
  })
})
