import { describe, test } from 'vitest'
import { deadWorkerRecovered as property } from '../../src/properties/index.ts'
import {
  claimed,
  down,
  ended,
  engine,
  expectHolds,
  expectRefused,
  fault,
  jumped,
  node,
  reclaimed,
  renewed,
  runStarted,
  settled,
  type Draft,
  up,
  watch,
} from './dsl.ts'

const w9 = (at: number): Draft[] => [node('started', { by: 'w9', at }), engine('started', { by: 'w9', at })]
/** w9 sweeps; w1 takes a job at 100 s and dies at 110 s: it is to be back by 110 + 30 + 5 + 5 s. */
const fleet = [runStarted(), ...w9(0), watch('restarted', { at: 10 }), node('started', { at: 0 })]
const dead = [...fleet, claimed('a', { at: 100_000 }), node('crashed', { at: 110_000 })]
const late = 'not-recovered-in-time'

describe('dead-worker-recovered (contract 0.20)', () => {
  test('accepts a job that is back within TTL + sweep + store call of the death', () => {
    expectHolds(property, [...dead, reclaimed('a', { at: 150_000 })], 1)
  })

  test('refuses one that comes later, or is found overdue at a move of the watch or at the end, once', () => {
    expectRefused(property, [...dead, reclaimed('a', { at: 150_001 })], late)
    expectRefused(property, [...dead, watch('moved', { at: 151_000 }), reclaimed('a', { at: 152_000 })], late)
    expectRefused(property, [...dead, ended({ at: 151_000 })], late)
  })

  test('does not judge jobs of the living, nor one whose settle landed', () => {
    expectHolds(property, [...fleet, claimed('a', { at: 100_000 }), ended({ at: 900_000 })], 0)
    expectHolds(property, [...dead, settled('a'), ended({ at: 900_000 })], 1)
  })

  test('knows a death by the start of the next incarnation', () => {
    const replaced = [...fleet, claimed('a', { at: 100_000 }), node('started', { by: 'w1#2', at: 110_000 })]
    expectRefused(property, [...replaced, ended({ at: 150_001 })], late)
  })

  test('counts from a renewal, or a claim, that landed after the death', () => {
    const renewal = [...dead, renewed('a', { at: 112_000 })]
    expectHolds(property, [...renewal, reclaimed('a', { at: 152_000 })], 1)
    expectRefused(property, [...renewal, reclaimed('a', { at: 152_001 })], late)
    const claim = [...fleet, node('crashed', { at: 99_000 }), claimed('a', { at: 100_000 })]
    expectHolds(property, [...claim, reclaimed('a', { at: 140_000 })], 1)
    expectRefused(property, [...claim, reclaimed('a', { at: 140_001 })], late)
  })

  test('counts from the end of an outage plus a sweep, and asks nothing while the database is down', () => {
    const outage = [...dead, down(120_000), up(200_000)]
    expectHolds(property, [...outage, reclaimed('a', { at: 245_000 })], 1)
    expectRefused(property, [...outage, reclaimed('a', { at: 245_001 })], late)
    expectHolds(property, [...dead, down(120_000), ended({ at: 900_000 })], 0)
  })

  test('counts from a restart of the watch', () => {
    const restarted = [
      ...dead,
      fault('database-restart', { by: 'env', at: 118_000 }),
      watch('restarted', { at: 120_000 }),
    ]
    expectHolds(property, [...restarted, reclaimed('a', { at: 160_000 })])
    expectRefused(property, [...restarted, reclaimed('a', { at: 160_001 })], late)
  })

  test('waits for somebody to sweep: a node that starts, wakes, or replaces the last one', () => {
    const nobody = [...dead, node('crashed', { by: 'w9', at: 111_000 })]
    expectHolds(property, [...nobody, ended({ at: 900_000 })], 0)
    const next = [
      ...nobody,
      node('started', { by: 'w9#2', at: 300_000 }),
      engine('started', { by: 'w9#2', at: 300_000 }),
    ]
    expectHolds(property, [...next, reclaimed('a', { at: 310_000 })], 1)
    expectRefused(property, [...next, reclaimed('a', { at: 310_001 })], late)
    const asleep = [
      ...dead,
      node('paused', { by: 'w9', at: 111_000 }),
      node('resumed', { by: 'w9', at: 300_000 }),
    ]
    expectHolds(property, [...asleep, reclaimed('a', { at: 315_000 })], 1)
    expectRefused(property, [...asleep, reclaimed('a', { at: 315_001 })], late)
  })

  test('a producer, and an engine that stopped, sweep nothing', () => {
    const producer = node('started', { by: 'client', at: 0 })
    expectHolds(
      property,
      [producer, ...dead, engine('stopped', { by: 'w9', at: 111_000 }), ended({ at: 900_000 })],
      0,
    )
  })

  test('a lost sweep moves the deadline by its call and a turn, not by a TTL', () => {
    const lost = fault('lost-request', { by: 'w9', call: 'jobs.reclaim', at: 148_000 })
    expectHolds(property, [...dead, lost, reclaimed('a', { at: 163_000 })], 1)
    expectRefused(property, [...dead, lost, reclaimed('a', { at: 163_001 })], late)
    const refusal = watch('refused', { at: 148_000 })
    expectHolds(property, [...dead, refusal, reclaimed('a', { at: 158_000 })], 1)
  })

  test('a lost call that sweeps nothing moves no deadline, nor does a lost sweep where another sweeps', () => {
    const other = fault('lost-request', { by: 'w9', call: 'claims.renew', at: 148_000 })
    expectRefused(property, [...dead, other, reclaimed('a', { at: 150_001 })], late)
    const two = [node('started', { by: 'w8', at: 0 }), engine('started', { by: 'w8', at: 0 }), ...dead]
    const lost = fault('lost-request', { by: 'w9', call: 'watch.move', at: 148_000 })
    expectRefused(property, [...two, lost, reclaimed('a', { at: 150_001 })], late)
  })
})

describe('grace-without-end (contract 0.20)', () => {
  const without = 'grace-without-end'

  test('accepts the first move of a run, and does not count it', () => {
    expectHolds(property, fleet, 0)
  })

  test('refuses that the watch begins anew though somebody has swept for three sweeps', () => {
    expectRefused(property, [...fleet, watch('restarted', { at: 100_000 })], without)
  })

  test.each([
    ['an outage', [down(50_000), up(90_000)]],
    ['a restart of the database', [fault('database-restart', { by: 'env', at: 90_000 })]],
    ['a lost move', [fault('lost-reply', { by: 'w9', call: 'watch.move', at: 90_000 })]],
    [
      'a pause of the sweeper',
      [node('paused', { by: 'w9', at: 50_000 }), node('resumed', { by: 'w9', at: 90_000 })],
    ],
    ['a restart of the sweeper', [node('crashed', { by: 'w9', at: 50_000 }), ...w9(90_000)]],
    ['a refused move', [watch('refused', { at: 90_000 })]],
  ])('accepts %s within three sweeps as a reason', (_why, reason) => {
    expectHolds(property, [...fleet, ...reason, watch('restarted', { at: 100_000 })], 1)
  })

  test('refuses a reason that is older than three sweeps', () => {
    expectRefused(
      property,
      [...fleet, down(50_000), up(80_000), watch('restarted', { at: 100_000 })],
      without,
    )
  })

  test('accepts that a machine whose clock runs fast takes that for a jump, until it has moved the watch at its right pace', () => {
    const runsFast = fault('drift', { by: 'w9', at: 10_000, forMs: 40_000 })
    expectHolds(property, [...fleet, runsFast, watch('restarted', { at: 100_000 })], 0)
    const right = watch('moved', { at: 60_000 })
    expectRefused(property, [...fleet, runsFast, right, watch('restarted', { at: 100_000 })], without)
    const before = watch('moved', { at: 50_000 })
    expectHolds(property, [...fleet, runsFast, before, watch('restarted', { at: 100_000 })], 0)
  })

  test('a clock that went back shows, unless grace lasts until it has caught up', () => {
    const back = (byMs: number): Draft => jumped(byMs, { at: 115_000 })
    expectHolds(property, [...dead, back(-20_000), reclaimed('a', { at: 160_000 })], 1)
    expectRefused(property, [...dead, back(-20_000), reclaimed('a', { at: 160_001 })], late)
    expectRefused(property, [...dead, back(-100_000), reclaimed('a', { at: 150_001 })], late)
    expectRefused(property, [...dead, back(20_000), reclaimed('a', { at: 150_001 })], late)
  })

  test('a clock that went back by less than the watch may miss does not show (decision 0009)', () => {
    const back = (byMs: number): Draft => jumped(byMs, { at: 115_000 })
    expectHolds(property, [...dead, back(-61_000), reclaimed('a', { at: 201_000 })], 1)
    expectRefused(property, [...dead, back(-61_000), reclaimed('a', { at: 201_001 })], late)
    expectRefused(property, [...dead, back(-61_001), reclaimed('a', { at: 150_001 })], late)
  })
})
