import { describe, test } from 'vitest'
import { cancelObserved as property } from '../../src/properties/index.ts'
import {
  attemptEnded,
  cancelAsked,
  claimed,
  commanded,
  expectHolds,
  expectRefused,
  fault,
  reclaimed,
  renewed,
  runStarted,
  settled,
  signalled,
  started,
  timedOut,
} from './dsl.ts'

const asked = cancelAsked('a', { kind: 'requested', at: 20_000 })
const claim = [runStarted(), claimed('a', { at: 10_000 })]
const run = [...claim, started('a', { at: 10_001 }), asked]

describe('cancel-observed (contract 6.1 - 6.5)', () => {
  test('accepts that the holder is told by a heartbeat, and the job ends', () => {
    expectHolds(property, [
      ...run,
      renewed('a', { at: 30_000 }),
      signalled('a', 'CANCELLED'),
      attemptEnded('a', { end: 'cancelled' }),
      settled('a', { outcome: 'cancelled' }),
    ])
    expectHolds(property, [...run, settled('a')])
    expectHolds(property, [...run, settled('a', { outcome: 'failed', state: 'cancelled' })])
    expectHolds(property, [...run, reclaimed('a', { state: 'cancelled' })])
  })

  test('refuses that the job goes back to its queue', () => {
    const kind = 'queued-after-cancel'
    expectRefused(property, [...run, settled('a', { outcome: 'failed' })], kind)
    expectRefused(property, [...run, settled('a', { outcome: 'released' })], kind)
    expectRefused(property, [...run, reclaimed('a')], kind)
    expectRefused(property, [...run, timedOut('a')], kind)
  })

  test('refuses a claim after it, unless an operator took it back', () => {
    expectRefused(property, [cancelAsked('a'), claimed('a')], 'claimed-after-cancel')
    expectHolds(property, [...run, settled('a', { outcome: 'cancelled' }), commanded('a'), claimed('a')])
    const refused = commanded('a', { applied: false })
    expectRefused(property, [cancelAsked('a'), refused, claimed('a')], 'claimed-after-cancel')
  })

  test('refuses that two healthy heartbeats say nothing of it', () => {
    const twice = [renewed('a', { at: 30_000 }), renewed('a', { at: 40_000 })]
    expectRefused(property, [...run, ...twice], 'cancel-unheard')
    expectHolds(property, [...run, signalled('a', 'TIMEOUT'), ...twice], 1)
  })

  test('excuses a heartbeat that was sent long before the cancel, and refuses one that was not', () => {
    const late = fault('late-request', { at: 5_000, call: 'claims.renew' })
    const other = fault('late-request', { at: 5_000, call: 'watch.move' })
    const beats = [renewed('a', { at: 30_000 }), renewed('a', { at: 40_000 })]
    expectHolds(property, [late, ...run, ...beats], 0)
    expectRefused(property, [other, ...run, ...beats], 'cancel-unheard')
    const again = [renewed('a', { at: 70_000 }), renewed('a', { at: 80_000 })]
    expectRefused(property, [late, ...run, ...again], 'cancel-unheard')
  })

  test('excuses the heartbeats of a claim in doubt, whose handler is not there yet', () => {
    const beats = [renewed('a', { at: 30_000 }), started('a', { at: 31_000 }), renewed('a', { at: 40_000 })]
    expectHolds(property, [...claim, asked, ...beats], 0)
    expectRefused(property, [...claim, asked, ...beats, renewed('a', { at: 50_000 })], 'cancel-unheard')
  })

  test('excuses a heartbeat whose answer may have been lost', () => {
    const lost = fault('lost-reply', { at: 30_005, call: 'claims.renew' })
    const beats = [renewed('a', { at: 30_000 }), lost, renewed('a', { at: 32_000 })]
    expectHolds(property, [...run, ...beats, signalled('a', 'CANCELLED')], 1)
  })
})
