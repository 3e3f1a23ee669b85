import { describe, test } from 'vitest'
import { claimOrder as property } from '../../src/properties/index.ts'
import {
  cancelAsked,
  claimed,
  commanded,
  expectHolds,
  expectRefused,
  inserted,
  jumped,
  reclaimed,
  settled,
  timedOut,
} from './dsl.ts'

const at = (ms: number): { readonly at: number } => ({ at: ms })
const failed = { outcome: 'failed' } as const

describe('claim-order (contract 0.8, 2.2, 5.1, 5.2)', () => {
  test('accepts that a job comes when it is due, and again after its delay', () => {
    expectHolds(property, [
      inserted('a', { ...at(0), dueMs: 500 }),
      claimed('a', at(500)),
      settled('a', { ...failed, ...at(600) }),
      claimed('a', { ...at(1_600), epoch: 2, failures: 1 }),
      reclaimed('a', { ...at(2_000), epoch: 3 }),
      claimed('a', { ...at(3_000), epoch: 4, failures: 1, evictions: 1 }),
      timedOut('a', { ...at(4_000), epoch: 5, failures: 2 }),
      claimed('a', at(5_000)),
    ])
  })

  test('refuses a claim before its time, after each way to the queue', () => {
    const early = 'claimed-early'
    const first = [inserted('a', at(0)), claimed('a', at(10))]
    const next = claimed('a', { ...at(900), epoch: 2 })
    expectRefused(property, [inserted('a', { ...at(0), dueMs: 500 }), claimed('a', at(499))], early)
    expectRefused(property, [...first, settled('a', { ...failed, ...at(20) }), next], early)
    expectRefused(property, [...first, reclaimed('a', at(20)), next], early)
    expectRefused(property, [...first, timedOut('a', at(20)), next], early)
    const moved = commanded('a', { ...at(20), command: 'reschedule', delayMs: 2_000 })
    expectRefused(property, [inserted('a', at(0)), moved, next], early)
  })

  test('takes the time from the clock of the database', () => {
    const delayed = inserted('a', { ...at(0), dueMs: 500 })
    expectHolds(property, [delayed, jumped(400, at(10)), claimed('a', at(100))])
    expectRefused(property, [delayed, jumped(-400, at(10)), claimed('a', at(600))], 'claimed-early')
  })

  test('a retry is due at once, and its repeat changes nothing', () => {
    const ended = settled('a', { ...failed, state: 'failed', permanent: true })
    const retried = [inserted('a'), claimed('a'), ended, commanded('a')]
    expectHolds(property, [...retried, claimed('a', { epoch: 2 })])
    const again = claimed('a', { epoch: 2 })
    const returned = settled('a', { ...failed, epoch: 2 })
    expectRefused(
      property,
      [...retried, again, returned, commanded('a'), claimed('a', { epoch: 3 })],
      'claimed-early',
    )
  })

  test('refuses another delay than was asked for, within jitter where there is some', () => {
    const start = [inserted('a', { backoffMs: [1_000, 2_000] }), claimed('a', { failures: 1 })]
    expectHolds(property, [...start, settled('a', { ...failed, delayMs: 2_000 })])
    expectRefused(property, [...start, settled('a', { ...failed, delayMs: 1_000 })], 'wrong-delay')
    expectRefused(property, [...start, settled('a', { outcome: 'released', delayMs: 1_000 })], 'wrong-delay')
    const jitter = [inserted('a', { jitter: true }), claimed('a')]
    expectHolds(property, [...jitter, settled('a', { ...failed, delayMs: 400 })])
    expectRefused(property, [...jitter, settled('a', { ...failed, delayMs: 1_001 })], 'wrong-delay')
  })

  test('accepts the order of band, time and insertion; refuses any other in one claim', () => {
    const [a, b, c] = [inserted('a'), inserted('b', { band: 0 }), inserted('c')]
    const take = (job: string) => claimed(job, { batch: 3 })
    expectHolds(property, [a, b, c, take('b'), take('a'), take('c')])
    expectRefused(property, [a, b, c, take('a'), take('b'), take('c')], 'out-of-order')
    expectRefused(property, [a, b, c, take('b'), take('c'), take('a')], 'out-of-order')
  })

  test('refuses that one is left which goes before one that is taken', () => {
    expectRefused(property, [inserted('a'), inserted('b'), claimed('b')], 'passed-over')
    expectRefused(property, [inserted('a'), inserted('b', { band: 1 }), claimed('a')], 'passed-over')
  })

  test('accepts that one is left that is not due, cancelled, elsewhere, or on its last eviction', () => {
    expectHolds(property, [inserted('a', { dueMs: 5_000 }), inserted('b'), claimed('b')])
    expectHolds(property, [inserted('a'), inserted('b'), cancelAsked('a'), claimed('b')])
    expectHolds(property, [inserted('a', { queue: 'long' }), inserted('b'), claimed('b')])
    expectHolds(property, [inserted('a', { kind: 'other' }), inserted('b'), claimed('b')])
    const solo = [inserted('a', { maxEvictions: 2, backoffMs: [0] }), claimed('a'), reclaimed('a')]
    expectHolds(property, [...solo, inserted('b'), claimed('b', { at: 9_000 })])
  })

  test('a job that came back waits behind those that came meanwhile', () => {
    const back = [inserted('a', { backoffMs: [0] }), claimed('a'), settled('a', { ...failed, delayMs: 0 })]
    expectRefused(
      property,
      [inserted('b', { dueMs: 15 }), ...back, claimed('a', { epoch: 2, failures: 1 })],
      'passed-over',
    )
  })
})
