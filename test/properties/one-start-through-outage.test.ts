import { describe, test } from 'vitest'
import { oneStartThroughOutage as property } from '../../src/properties/index.ts'
import {
  down,
  expectHolds,
  expectRefused,
  fault,
  inserted,
  node,
  reclaimed,
  runStarted,
  settled,
  started,
  timedOut,
  up,
} from './dsl.ts'

const before = [runStarted(), inserted('a'), started('a', { at: 100_000 })]
const through = [...before, down(110_000), up(200_000)]
const again = started('a', { epoch: 3, by: 'w2', at: 240_000 })

describe('one-start-through-outage (contract 0.20, 0.21)', () => {
  test('accepts an attempt that goes on through an outage and settles', () => {
    expectHolds(property, [...through, settled('a')], 1)
  })

  test('does not count attempts that met no outage, or began in one', () => {
    expectHolds(property, [...before, settled('a')], 0)
    expectHolds(
      property,
      [runStarted(), inserted('a'), down(1_000), started('a'), up(90_000), settled('a')],
      0,
    )
  })

  test('refuses a second start after the reclaim of an attempt that lived through', () => {
    expectRefused(property, [...through, reclaimed('a', { at: 235_000 }), again], 'started-again')
  })

  test('refuses it however late it comes, and whatever befell the worker after the reclaim', () => {
    const later = started('a', { epoch: 3, by: 'w2', at: 900_000 })
    const evicted = [...through, reclaimed('a', { at: 235_000 }), node('crashed', { at: 236_000 })]
    expectRefused(property, [...evicted, later], 'started-again')
  })

  test('refuses that the worker itself begins again', () => {
    expectRefused(property, [...through, started('a', { at: 201_000 })], 'started-again')
  })

  test('accepts a retry after the attempt was settled, released or not', () => {
    expectHolds(property, [...through, settled('a', { outcome: 'released' }), again], 1)
  })

  test.each([
    ['died', node('crashed', { at: 220_000 })],
    ['was paused', node('paused', { at: 220_000 })],
    ['lost messages', fault('lost-request', { call: 'claims.renew', at: 220_000 })],
  ])('exempts an attempt whose worker %s near the outage', (_why, event) => {
    expectHolds(property, [...through, event, reclaimed('a', { at: 250_000 }), again], 0)
  })

  test('exempts an attempt whose own timeout ran out', () => {
    expectHolds(property, [...through, timedOut('a', { at: 235_000 }), again], 0)
  })

  test('exempts an attempt whose worker was asleep when the database went away', () => {
    const slept = [
      ...before,
      node('paused', { at: 101_000 }),
      down(110_000),
      node('resumed', { at: 111_000 }),
      up(200_000),
    ]
    expectHolds(property, [...slept, reclaimed('a', { at: 235_000 }), again], 0)
  })
})
