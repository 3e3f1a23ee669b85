import { describe, test } from 'vitest'
import { postOutageGrace as property } from '../../src/properties/index.ts'
import {
  claimed,
  down,
  engine,
  expectHolds,
  expectRefused,
  fault,
  node,
  reclaimed,
  renewed,
  runStarted,
  settled,
  timedOut,
  up,
} from './dsl.ts'

const run = [runStarted(), node('started', { at: 0 }), claimed('a', { at: 100_000 })]
const crashed = node('crashed', { at: 101_000 })
const evicted = 'live-worker-evicted'

describe('post-outage-grace (contract 0.20)', () => {
  test('accepts a reclaim from a dead worker, with and without an outage a TTL ago', () => {
    expectHolds(property, [...run, crashed, reclaimed('a', { at: 131_000 })], 1)
    expectHolds(property, [...run, crashed, down(110_000), up(150_000), reclaimed('a', { at: 180_000 })], 1)
  })

  test('refuses a reclaim before the database was up for the TTL', () => {
    const outage = [...run, crashed, down(110_000), up(150_000)]
    expectRefused(property, [...outage, reclaimed('a', { at: 179_999 })], 'reclaimed-in-grace')
    expectRefused(
      property,
      [...run, crashed, down(110_000), reclaimed('a', { at: 140_000 })],
      'reclaimed-in-grace',
    )
  })

  test('refuses that the timeout backstop charges a job in the grace after an outage (0.6)', () => {
    const outage = [...run, down(110_000), up(500_000)]
    expectRefused(property, [...outage, timedOut('a', { at: 520_000 })], 'timed-out-in-grace')
    expectHolds(property, [...outage, timedOut('a', { at: 530_000 })], 1)
  })

  test('judges each job by its own TTL', () => {
    const long = claimed('b', { leaseTtlMs: 60_000, at: 100_000 })
    const outage = [...run, long, crashed, down(110_000), up(150_000), reclaimed('a', { at: 185_000 })]
    expectRefused(property, [...outage, reclaimed('b', { at: 185_000 })], 'reclaimed-in-grace')
  })

  test('exempts an outage of up to two sweeps, which no watch notices (0.3)', () => {
    expectHolds(property, [...run, crashed, down(110_000), up(120_000), reclaimed('a', { at: 131_000 })], 1)
    const longer = [...run, crashed, down(110_000), up(120_001)]
    expectRefused(property, [...longer, reclaimed('a', { at: 131_000 })], 'reclaimed-in-grace')
  })

  test('counts a live worker that renews its lease after an outage of any length', () => {
    expectHolds(
      property,
      [...run, down(110_000), up(900_000), renewed('a', { at: 905_000 }), settled('a')],
      1,
    )
  })

  test('refuses the eviction of a live worker, however long ago the outage ended', () => {
    expectRefused(property, [...run, reclaimed('a', { at: 200_000 })], evicted)
    expectRefused(property, [...run, down(110_000), up(900_000), reclaimed('a', { at: 990_000 })], evicted)
  })

  test.each([
    ['was struck by a fault within two TTLs', fault('lost-request', { call: 'claims.renew', at: 150_000 })],
    ['is paused', node('paused', { at: 110_000 })],
    ['stopped without settling', engine('stopped', { at: 105_000 })],
    ['has died', node('crashed', { at: 105_000 })],
    ['has been replaced by its next incarnation', node('started', { by: 'w1#2', at: 105_000 })],
  ])('exempts a holder that %s', (_why, event) => {
    expectHolds(property, [...run, event, reclaimed('a', { at: 209_000 })])
  })

  test('exempts a holder that woke within two TTLs, and only so long', () => {
    const slept = [...run, node('paused', { at: 110_000 }), node('resumed', { at: 150_000 })]
    expectHolds(property, [...slept, reclaimed('a', { at: 210_000 })])
    expectRefused(property, [...slept, reclaimed('a', { at: 210_001 })], evicted)
  })

  test('what strikes another node, or an incarnation that is gone, exempts nobody', () => {
    const other = fault('lost-reply', { by: 'w2', call: 'claims.renew', at: 150_000 })
    const gone = fault('lost-reply', { by: 'w1#0', call: 'claims.renew', at: 150_000 })
    expectRefused(property, [...run, other, gone, reclaimed('a', { at: 160_000 })], evicted)
  })

  test('exempts two mishaps of the database in close succession, which the margin does not cover (0.3)', () => {
    const restart = (at: number): ReturnType<typeof fault> => fault('database-restart', { by: 'env', at })
    const close = [...run, restart(110_000), down(110_000), up(110_500), restart(128_499)]
    expectHolds(property, [...close, reclaimed('a', { at: 140_000 })])
    const apart = [...run, restart(110_000), down(110_000), up(110_500), restart(128_500)]
    expectRefused(property, [...apart, reclaimed('a', { at: 140_000 })], evicted)
  })

  test('a fault and the outage that it causes are one mishap', () => {
    const one = [...run, fault('outage-long', { by: 'env', at: 110_000 }), down(110_000), up(150_000)]
    expectRefused(property, [...one, reclaimed('a', { at: 185_000 })], evicted)
  })
})
