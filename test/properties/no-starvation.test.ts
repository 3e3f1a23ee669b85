import { describe, test } from 'vitest'
import { noStarvation as property } from '../../src/properties/index.ts'
import {
  began,
  claimed,
  down,
  engine,
  expectHolds,
  expectRefused,
  fault,
  inserted,
  jumped,
  node,
  reclaimed,
  returned,
  runStarted,
  switched,
  up,
  watch,
} from './dsl.ts'

/** Two polls, a call, and two slow answers: 67 seconds. */
const fleet = [runStarted(), node('started', { at: 0 }), engine('started', { at: 0 })]
const kind = 'kept-waiting'
const job = (f: Parameters<typeof inserted>[1] = {}) => inserted('a', { at: 0, ...f })

describe('no-starvation (contract 2.12; cases E27)', () => {
  test('accepts a claim within two polls, and refuses a later one', () => {
    expectHolds(property, [...fleet, job(), claimed('a', { at: 67_000 })], 1)
    expectRefused(property, [...fleet, job(), claimed('a', { at: 67_001 })], kind)
    expectRefused(property, [...fleet, job(), watch('moved', { at: 67_001 })], kind)
  })

  test('counts from when the job is due, by the clock of the database', () => {
    expectHolds(property, [...fleet, job({ dueMs: 10_000 }), claimed('a', { at: 77_000 })], 1)
    const back = [job({ dueMs: 10_000 }), jumped(-5_000, { at: 5_000 })]
    expectHolds(property, [...fleet, ...back, claimed('a', { at: 82_000 })], 1)
    expectRefused(property, [...fleet, ...back, claimed('a', { at: 82_001 })], kind)
    const returning = [claimed('a', { at: 10 }), reclaimed('a', { at: 40_000 })]
    expectHolds(property, [...fleet, job(), ...returning, claimed('a', { at: 108_000, epoch: 3 })])
  })

  test('counts from when there is a slot', () => {
    const busy = [inserted('b'), inserted('c'), began('b'), began('c')]
    expectHolds(
      property,
      [...fleet, ...busy, job(), returned('b', { at: 50_000 }), claimed('a', { at: 117_000 })],
      1,
    )
    const late = [returned('b', { at: 50_000 }), claimed('a', { at: 117_001 })]
    expectRefused(
      property,
      [...fleet, claimed('b'), claimed('c'), ...busy, claimed('b'), claimed('c'), job(), ...late],
      kind,
    )
  })

  test('counts from when the worker is well, and it must be there', () => {
    const struck = fault('refused-connection', { at: 10_000, forMs: 20_000 })
    expectHolds(property, [...fleet, job(), struck, claimed('a', { at: 97_000 })], 1)
    expectRefused(property, [...fleet, job(), struck, claimed('a', { at: 97_001 })], kind)
    for (const gone of [node('stopping'), node('crashed'), node('paused')])
      expectHolds(property, [
        ...fleet,
        inserted('b', { at: 0 }),
        claimed('b'),
        gone,
        job(),
        claimed('a', { at: 99_000 }),
      ])
  })

  test('does not count outages, holds, and the time of a job on its last eviction', () => {
    expectHolds(property, [...fleet, job(), down(10_000), up(90_000), claimed('a', { at: 157_000 })], 1)
    const hold = [switched({ hold: true, at: 10_000 }), switched({ at: 90_000 })]
    expectHolds(property, [...fleet, job(), ...hold, claimed('a', { at: 157_000 })], 1)
    const solo = [inserted('b', { maxEvictions: 2 }), claimed('b'), reclaimed('b', { at: 100 })]
    expectHolds(property, [...fleet, ...solo, job(), claimed('a', { at: 99_000 })])
  })
})
