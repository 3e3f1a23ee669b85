import { describe, test } from 'vitest'
import { exactBudgets as property } from '../../src/properties/index.ts'
import {
  claimed,
  commanded,
  expectHolds,
  expectRefused,
  final,
  inserted,
  reclaimed,
  settled,
  timedOut,
} from './dsl.ts'

const failed = { outcome: 'failed' } as const

describe('exact-budgets (contract 0.4, 0.5)', () => {
  test('accepts counters that count exactly claims, failures and evictions', () => {
    expectHolds(property, [
      inserted('a', { maxAttempts: 3 }),
      claimed('a'),
      settled('a', failed),
      claimed('a', { epoch: 2, attempt: 2, failures: 1 }),
      reclaimed('a', { epoch: 3 }),
      claimed('a', { epoch: 4, attempt: 3, failures: 1, evictions: 1 }),
      timedOut('a', { epoch: 5, failures: 2 }),
      claimed('a', { epoch: 6, attempt: 4, failures: 2, evictions: 1 }),
      settled('a', { ...failed, epoch: 6, state: 'failed' }),
      final('a', { state: 'failed', attempt: 4, failures: 3, evictions: 1 }),
    ])
  })

  test('accepts that a release charges nothing, and refuses one that does', () => {
    const released = [inserted('a'), claimed('a'), settled('a', { outcome: 'released' })]
    expectHolds(property, [...released, claimed('a', { epoch: 2, attempt: 2 })])
    expectRefused(
      property,
      [...released, claimed('a', { epoch: 2, attempt: 2, failures: 1 })],
      'failures-miscounted',
    )
    expectRefused(
      property,
      [...released, claimed('a', { epoch: 2, attempt: 2, evictions: 1 })],
      'evictions-miscounted',
    )
  })

  test('counts a failure once when its settle is confirmed by a repeat, also during the next attempt', () => {
    const confirmation = settled('a', { ...failed, repeated: true, state: 'running' })
    const next = claimed('a', { epoch: 2, attempt: 2, failures: 1 })
    expectHolds(property, [inserted('a'), claimed('a'), settled('a', failed), next, confirmation])
  })

  test('charges a failure that first applies as a repeat', () => {
    const first = settled('a', { ...failed, repeated: true })
    expectHolds(property, [
      inserted('a'),
      claimed('a'),
      first,
      claimed('a', { epoch: 2, attempt: 2, failures: 1 }),
    ])
  })

  test('a settle that is refused charges nothing', () => {
    const refused = settled('a', { ...failed, settled: 'lost', state: 'queued' })
    const next = claimed('a', { epoch: 3, attempt: 2, evictions: 1 })
    expectHolds(property, [inserted('a'), claimed('a'), reclaimed('a'), refused, next])
  })

  test('accepts the dead letter of a permanent failure', () => {
    expectHolds(property, [
      inserted('a'),
      claimed('a'),
      settled('a', { ...failed, permanent: true, state: 'failed' }),
    ])
  })

  test.each([
    ['attempt', claimed('a', { attempt: 2 })],
    ['attempt', final('a', { attempt: 1 })],
  ])('refuses a wrong %s', (counter, event) => {
    expectRefused(property, [inserted('a'), event], `${counter}-miscounted`)
  })

  test('refuses evictions and failures that an operation miscounts', () => {
    expectRefused(
      property,
      [inserted('a'), claimed('a'), reclaimed('a', { evictions: 2 })],
      'evictions-miscounted',
    )
    expectRefused(
      property,
      [inserted('a'), claimed('a'), timedOut('a', { failures: 0 })],
      'failures-miscounted',
    )
  })

  test('refuses a dead letter before its budget is spent, of failures or evictions', () => {
    const early = 'dead-lettered-early'
    const open = [inserted('a', { maxAttempts: 2, maxEvictions: 2 }), claimed('a')]
    expectRefused(property, [...open, settled('a', { ...failed, state: 'failed' })], early)
    expectRefused(property, [...open, reclaimed('a', { state: 'failed' })], early)
    expectRefused(property, [...open, timedOut('a', { state: 'failed' })], early)
    expectRefused(property, [...open, settled('a', { outcome: 'released', state: 'failed' })], early)
  })

  test('refuses another round once the budget is spent', () => {
    const late = 'dead-lettered-late'
    const open = [inserted('a', { maxAttempts: 1, maxEvictions: 1 }), claimed('a')]
    expectRefused(property, [...open, settled('a', failed)], late)
    expectRefused(property, [...open, reclaimed('a')], late)
    expectRefused(property, [...open, timedOut('a')], late)
    expectRefused(property, [inserted('b'), claimed('b'), settled('b', { ...failed, permanent: true })], late)
  })

  test('a retry begins failures and evictions anew; attempts go on', () => {
    const spent = [
      inserted('a', { maxAttempts: 1 }),
      claimed('a'),
      settled('a', { ...failed, state: 'failed' }),
    ]
    const anew = claimed('a', { epoch: 2, attempt: 2 })
    expectHolds(property, [...spent, commanded('a'), anew])
    expectRefused(
      property,
      [...spent, commanded('a'), claimed('a', { epoch: 2, attempt: 1 })],
      'attempt-miscounted',
    )
    expectRefused(
      property,
      [...spent, commanded('a'), claimed('a', { epoch: 2, attempt: 2, failures: 1 })],
      'failures-miscounted',
    )
    const again = settled('a', { ...failed, epoch: 2, state: 'failed' })
    const repeat = [commanded('a'), final('a', { state: 'failed', attempt: 2, failures: 1 })]
    expectHolds(property, [...spent, commanded('a'), anew, again, ...repeat])
  })

  test('an end that was asked for spends nothing', () => {
    const cancelled = settled('a', { outcome: 'cancelled' })
    expectHolds(property, [inserted('a'), claimed('a'), cancelled, final('a', { state: 'cancelled' })])
    expectHolds(property, [inserted('a'), claimed('a'), reclaimed('a', { state: 'cancelled' })])
  })
})
