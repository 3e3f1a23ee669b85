import { describe, test } from 'vitest'
import { doubtClaimsNothing as property } from '../../src/properties/index.ts'
import {
  attempt,
  claimIs,
  claimed,
  down,
  expectHolds,
  expectRefused,
  fault,
  node,
  runStarted,
  up,
} from './dsl.ts'

const begin = [runStarted(), node('started', { at: 1 })]

describe('doubt-claims-nothing (contract 0.10, 0.21)', () => {
  test('accepts claims before a doubt and after it', () => {
    const unknown = [claimIs('unknown', { token: 't2' }), claimed('b', { token: 't2' })]
    expectHolds(
      property,
      [...begin, claimed('a'), ...unknown, claimIs('known', { token: 't2' }), claimed('c')],
      1,
    )
    const uncertain = [attempt('uncertain', 'a', { at: 40_000 }), attempt('certain', 'a', { at: 50_000 })]
    expectHolds(property, [...begin, claimed('a'), ...uncertain, claimed('b')], 1)
  })

  test('refuses a claim while another is unknown', () => {
    const unknown = claimIs('unknown', { token: 't1' })
    expectRefused(
      property,
      [...begin, unknown, claimed('a', { token: 't2' }), claimIs('known')],
      'claimed-while-unknown',
    )
  })

  test('refuses a claim while a lease is in doubt', () => {
    const doubt = [claimed('a'), attempt('uncertain', 'a', { at: 40_000 })]
    const over = attempt('lost', 'a')
    expectRefused(
      property,
      [...begin, ...doubt, claimed('b', { at: 45_001 }), over],
      'claimed-while-uncertain',
    )
    expectHolds(property, [...begin, ...doubt, claimed('b', { at: 45_000 }), over], 1)
  })

  test('excuses what was held up on its way', () => {
    const doubt = [claimed('a'), attempt('uncertain', 'a', { at: 40_000 })]
    const over = attempt('lost', 'a')
    const late = fault('late-request', { at: 39_000, call: 'claims.claim' })
    expectHolds(property, [...begin, late, ...doubt, claimed('b', { at: 60_000 }), over], 1)
    const stalled = [down(30_000), ...doubt, up(80_000), claimed('b', { at: 80_000 })]
    expectHolds(property, [...begin, ...stalled, over], 1)
  })
})
