import { describe, test } from 'vitest'
import { lostReplyCostsNothing as property } from '../../src/properties/index.ts'
import {
  claimed,
  confirmed,
  down,
  expectHolds,
  expectRefused,
  fault,
  node,
  reclaimed,
  recovered,
  renewed,
  runStarted,
  said,
  settled,
  started,
  timedOut,
  up,
  voided,
} from './dsl.ts'

const lost = fault('lost-reply', { call: 'claims.claim', at: 1_000 })
const held = [runStarted(), lost, claimed('a')]

describe('lost-reply-costs-nothing (contract 0.10)', () => {
  test('accepts a claim that is recovered and started', () => {
    expectHolds(property, [...held, recovered('a'), started('a'), reclaimed('a', { at: 90_000 })], 1)
  })

  test('tells the claim whether the fault is announced before it executes or after', () => {
    expectHolds(property, [runStarted(), claimed('a'), lost, recovered('a'), started('a')], 1)
  })

  test('does not count claims whose reply came, nor the claim after one that was void', () => {
    expectHolds(property, [runStarted(), claimed('a'), started('a')], 0)
    expectHolds(property, [runStarted(), lost, voided(), claimed('a'), started('a')], 0)
  })

  test('refuses that its jobs are evicted, claimed again or charged before they started', () => {
    expectRefused(property, [...held, reclaimed('a', { at: 32_000 })], 'evicted')
    expectRefused(property, [...held, claimed('a', { epoch: 2, by: 'w2' })], 'claimed-again')
    expectRefused(property, [...held, timedOut('a')], 'charged')
    expectRefused(property, [...held, settled('a', { outcome: 'failed' })], 'charged')
  })

  test('accepts that they are given back uncharged', () => {
    expectHolds(
      property,
      [...held, settled('a', { outcome: 'released' }), claimed('a', { epoch: 2, by: 'w2' })],
      0,
    )
  })

  test.each([
    ['died', [node('crashed')]],
    ['was paused', [node('paused'), node('resumed', { at: 40_000 })]],
    [
      'was cut off',
      [fault('lost-request', { call: 'claims.renew' }), fault('lost-request', { call: 'claims.recover' })],
    ],
    [
      'met an outage and a lost renewal',
      [down(5_000), up(6_000), fault('lost-request', { call: 'claims.renew' })],
    ],
  ])('exempts a worker that %s before it was over', (_why, events) => {
    expectHolds(property, [...held, ...events, reclaimed('a', { at: 90_000 })], 0)
  })

  test('one lost renewal, or one outage, is no excuse', () => {
    const renewal = fault('lost-request', { call: 'claims.renew' })
    expectRefused(property, [...held, renewal, reclaimed('a', { at: 90_000 })], 'evicted')
    expectRefused(property, [...held, down(5_000), up(50_000), reclaimed('a', { at: 90_000 })], 'evicted')
  })

  test('mishaps count from the last renewal or recovery that landed', () => {
    const one = fault('lost-reply', { call: 'claims.renew' })
    expectRefused(property, [...held, one, renewed('a'), one, reclaimed('a', { at: 90_000 })], 'evicted')
  })
})

describe('a lost reply of a settle (contract 0.15)', () => {
  const ran = [runStarted(), claimed('a'), started('a'), fault('lost-reply', { call: 'jobs.settle' })]
  const failed = { outcome: 'failed' } as const

  test('accepts that the repeat is confirmed', () => {
    expectHolds(property, [...ran, settled('a'), settled('a', { repeated: true }), confirmed('a')], 1)
  })

  test('does not count settles whose reply came', () => {
    expectHolds(property, [runStarted(), claimed('a'), started('a'), settled('a'), confirmed('a')], 0)
  })

  test.each(['lost', 'superseded'] as const)('refuses that a settle that applied is told %s', (told) => {
    expectRefused(
      property,
      [...ran, settled('a', failed), confirmed('a', { settled: told })],
      'applied-settle-denied',
    )
  })

  test('exempts a settle after which another has applied: nobody can tell any more', () => {
    const other = settled('a', { epoch: 2, by: 'w2' })
    expectHolds(property, [...ran, settled('a', failed), other, confirmed('a', { settled: 'superseded' })], 0)
  })

  test('says nothing of a settle that never applied', () => {
    expectHolds(property, [...ran, reclaimed('a'), confirmed('a', { settled: 'lost' })], 0)
  })

  const done = [
    runStarted(),
    claimed('a'),
    started('a'),
    said('attempt.ended', { job: 'a', epoch: 1, end: 'succeeded' }),
  ]

  test('counts a settle that first applies as a repeat', () => {
    expectHolds(property, [...done, settled('a', { repeated: true }), confirmed('a')], 1)
  })

  test('refuses that what was done is taken back because its settle was forgotten', () => {
    expectRefused(property, [...done, timedOut('a', { at: 150_000 })], 'settle-forgotten')
    expectRefused(property, [...done, reclaimed('a', { at: 150_000 })], 'settle-forgotten')
  })

  test('exempts a worker that a fault touched within two TTLs, and one that had no time', () => {
    const loss = fault('lost-request', { call: 'jobs.settle', at: 100_000 })
    expectHolds(property, [...done, loss, timedOut('a', { at: 150_000 })], 0)
    expectHolds(property, [...done, timedOut('a', { at: 20_000 })], 0)
  })
})
