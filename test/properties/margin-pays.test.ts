import { describe, test } from 'vitest'
import { marginPays as property } from '../../src/properties/index.ts'
import {
  claimed,
  down,
  expectHolds,
  expectRefused,
  fault,
  node,
  reclaimed,
  renewed,
  runStarted,
  up,
} from './dsl.ts'

const lost = fault('lost-request', { at: 70_000, call: 'claims.renew' })
const begin = [runStarted(), node('started', { at: 1 }), claimed('a', { at: 60_000 })]

describe('margin-pays (contract 0.3)', () => {
  test('accepts a lease that is renewed after the one message that was lost', () => {
    expectHolds(property, [...begin, lost, renewed('a', { at: 77_000 })], 1)
  })

  test('refuses that the one message cost the lease', () => {
    expectRefused(property, [...begin, lost, reclaimed('a', { at: 92_000 })], 'one-loss-cost-a-lease')
  })

  test('excuses a second loss, any other fault of the worker, and any of the database', () => {
    const taken = reclaimed('a', { at: 92_000 })
    const others = [
      [fault('lost-reply', { at: 75_000, call: 'claims.renew' })],
      [fault('pause', { at: 75_000 })],
      [node('paused', { at: 75_000 }), node('resumed', { at: 80_000 })],
      [down(75_000), up(76_000)],
      [node('crashed', { at: 75_000 })],
    ]
    for (const other of others) expectHolds(property, [...begin, lost, ...other, taken, renewed('b')], 0)
  })

  test('says nothing where no message was lost', () => {
    expectHolds(property, [...begin, reclaimed('a', { at: 92_000 })], 0)
  })
})
