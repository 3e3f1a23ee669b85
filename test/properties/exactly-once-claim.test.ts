import { describe, test } from 'vitest'
import { exactlyOnceClaim as property } from '../../src/properties/index.ts'
import {
  claimed,
  expectHolds,
  expectRefused,
  reclaimed,
  recovered,
  settled,
  started,
  timedOut,
} from './dsl.ts'

describe('exactly-once-claim (contract 0.10, 0.13)', () => {
  test('accepts claims whose epochs rise by one, across settles, reclaims and timeouts', () => {
    expectHolds(property, [
      claimed('a'),
      started('a'),
      settled('a', { outcome: 'failed' }),
      claimed('a', { epoch: 2, by: 'w2' }),
      started('a', { epoch: 2, by: 'w2' }),
      reclaimed('a', { epoch: 3 }),
      claimed('a', { epoch: 4 }),
      timedOut('a', { epoch: 5 }),
    ])
  })

  test('accepts a recovery by the very process that claimed', () => {
    expectHolds(property, [claimed('a'), recovered('a'), started('a')], 3)
  })

  test('accepts one late start by a zombie that was superseded before it began', () => {
    expectHolds(property, [claimed('a'), reclaimed('a'), claimed('a', { epoch: 3, by: 'w2' }), started('a')])
  })

  test('refuses two holders of one epoch', () => {
    expectRefused(property, [claimed('a'), claimed('a', { by: 'w2' })], 'two-holders')
  })

  test('refuses a claim of a job that is held', () => {
    expectRefused(property, [claimed('a'), claimed('a', { epoch: 2, by: 'w2' })], 'claimed-while-held')
  })

  test('refuses an epoch that does not rise, and one that skips', () => {
    const again = [claimed('a'), settled('a', { outcome: 'released' })]
    expectRefused(property, [...again, claimed('a')], 'epoch-not-risen')
    expectRefused(property, [...again, claimed('a', { epoch: 3 })], 'epoch-skipped')
    expectRefused(property, [claimed('a'), reclaimed('a', { epoch: 1 })], 'epoch-not-risen')
    expectRefused(property, [claimed('a'), timedOut('a', { epoch: 3 })], 'epoch-skipped')
  })

  test('refuses a recovery by another process, also by the next incarnation of the same node', () => {
    expectRefused(property, [claimed('a'), recovered('a', { by: 'w1#2' })], 'recovered-by-another')
    expectRefused(property, [claimed('a'), reclaimed('a'), recovered('a')], 'recovered-by-another')
  })

  test('refuses a second start of one epoch', () => {
    expectRefused(property, [claimed('a'), started('a'), started('a')], 'started-twice')
  })

  test('refuses a start by a process that does not hold the epoch, or had started it before it lost it', () => {
    expectRefused(property, [claimed('a'), started('a', { by: 'w2' })], 'started-by-another')
    expectRefused(property, [claimed('a'), started('a'), reclaimed('a'), started('a')], 'started-by-another')
    expectRefused(property, [claimed('a'), reclaimed('a'), started('a', { epoch: 2 })], 'started-by-another')
  })

  test('refuses that a job is taken back from nobody', () => {
    const kind = 'taken-from-nobody'
    expectRefused(property, [claimed('a'), reclaimed('a'), reclaimed('a', { epoch: 3 })], kind)
    expectRefused(property, [claimed('a'), settled('a', { outcome: 'failed' }), timedOut('a')], kind)
  })
})
