import { describe, test } from 'vitest'
import { healthTruth as property } from '../../src/properties/index.ts'
import {
  attempt,
  began,
  claimed,
  confirmed,
  down,
  engine,
  expectHolds,
  expectRefused,
  health,
  node,
  returned,
  runStarted,
  said,
  started,
  up,
} from './dsl.ts'

const worked = [claimed('z'), confirmed('z')]
const begin = [runStarted(), node('started', { at: 1 }), engine('started', { at: 2 }), ...worked]
const failed = said('store.failed', { call: 'now', sent: 'maybe', at: 5_000 })
const refused = said('store.failed', { call: 'now', sent: 'answered', at: 5_000 })
const away = { status: 'degraded', reachable: false } as const
const busy = { running: 1, slotsUsed: 1, claims: 1 } as const

describe('health-truth (issue 4)', () => {
  test('accepts each phase by its name', () => {
    const starting = [runStarted(), node('started', { at: 1 }), ...worked, health({ status: 'starting' })]
    expectHolds(property, [...starting, engine('started'), health()], 2)
    const stopping = [node('stopping'), health({ status: 'stopping' }), engine('stopped')]
    expectHolds(property, [...begin, ...stopping, health({ status: 'stopped' })], 2)
    expectRefused(property, [...starting, health()], 'wrong-phase')
  })

  test('refuses a status that its own figures belie', () => {
    expectRefused(property, [...begin, health({ reachable: false, at: 9_000 })], 'status-disagrees')
    expectRefused(property, [...begin, health({ status: 'degraded', at: 9_000 })], 'status-disagrees')
  })

  test('refuses a store that is well when a call has just failed, or at the end of a long outage', () => {
    expectHolds(property, [...begin, failed, health({ ...away, at: 5_000 })], 1)
    expectRefused(property, [...begin, failed, health({ at: 5_000 })], 'failure-hidden')
    expectHolds(property, [...begin, refused, health({ at: 5_000 })], 1)
    const outage = [down(50_000), up(61_001)]
    expectHolds(property, [...begin, ...outage, health({ ...away, at: 61_001 })], 1)
    expectRefused(property, [...begin, ...outage, health({ at: 61_001 })], 'outage-hidden')
    expectHolds(property, [...begin, down(50_000), up(61_000), health({ at: 61_000 })], 1)
  })

  test('refuses that it is degraded long after all is well', () => {
    const outage = [...begin, down(50_000), up(60_000)]
    expectHolds(property, [...outage, health({ ...away, at: 75_000 })], 1)
    expectRefused(property, [...outage, health({ ...away, at: 75_001 })], 'recovery-hidden')
    const doubt = [claimed('a'), started('a'), attempt('uncertain', 'a'), began('a')]
    const told = { ...busy, status: 'degraded', uncertain: 1 } as const
    expectRefused(property, [...outage, ...doubt, health({ ...told, at: 75_001 })], 'doubt-without-end')
  })

  test('refuses figures that are not those of the world', () => {
    const run = [...begin, claimed('a'), started('a'), began('a')]
    expectHolds(property, [...run, health(busy)], 1)
    expectRefused(property, [...run, health({ claims: 1 })], 'running-miscounted')
    expectRefused(property, [...run, health({ ...busy, slotsUsed: 2 })], 'slots-miscounted')
    expectRefused(property, [...run, health({ ...busy, claims: 0 })], 'claims-miscounted')
    expectRefused(property, [...run, health({ ...busy, claims: 3 })], 'claims-miscounted')
    const over = [returned('a'), said('attempt.confirmed', { job: 'a', epoch: 1, settled: 'applied' })]
    expectHolds(property, [...run, ...over, health({ claims: 1 })], 1)
    const doubt = attempt('uncertain', 'a')
    expectRefused(property, [...run, doubt, health({ ...busy })], 'doubts-miscounted')
  })
})
