import { describe, test } from 'vitest'
import { sweepsInTime as property } from '../../src/properties/index.ts'
import {
  type Draft,
  claimed,
  ended,
  engine,
  expectHolds,
  expectRefused,
  inserted,
  node,
  runStarted,
  said,
  settled,
  timedOut,
  watch,
} from './dsl.ts'

const begin = [runStarted(), node('started', { at: 1, by: 'w9' }), engine('started', { at: 2, by: 'w9' })]
const forgotten = inserted('a', { at: 10, undispatched: true, dueMs: null })
const dispatched = (at: number): Draft => said('job.dispatched', { job: 'a', at, by: 'w9' })

describe('sweeps-in-time (contract 0.6, 0.10, 10.3)', () => {
  test('accepts a job that is given its place after a minute, and soon', () => {
    expectHolds(property, [...begin, forgotten, dispatched(60_010)], 1)
    expectHolds(property, [...begin, forgotten, watch('moved', { at: 100_010 }), dispatched(100_010)], 1)
  })

  test('refuses one that is left without, or is given it too early, or has it', () => {
    expectRefused(property, [...begin, forgotten, watch('moved', { at: 100_011 })], 'left-without-a-place')
    expectRefused(property, [...begin, forgotten, dispatched(60_009)], 'dispatched-unasked')
    expectRefused(property, [...begin, inserted('a'), dispatched(90_000)], 'dispatched-unasked')
  })

  test('refuses an attempt that nobody ends, counted from when the watch began anew', () => {
    const run = [...begin, inserted('a'), claimed('a', { at: 1_000 })]
    expectHolds(property, [...run, watch('moved', { at: 131_000 }), timedOut('a', { at: 131_000 })], 1)
    expectRefused(property, [...run, watch('moved', { at: 131_001 })], 'attempt-overdue')
    const anew = watch('restarted', { at: 50_000 })
    expectHolds(property, [...run, anew, watch('moved', { at: 180_000 }), timedOut('a', { at: 180_000 })], 1)
    expectRefused(property, [...run, anew, watch('moved', { at: 180_001 })], 'attempt-overdue')
  })

  test('refuses the row of a claim that no job bears any more', () => {
    const run = [...begin, inserted('a'), claimed('a', { at: 1_000 }), settled('a', { at: 2_000 })]
    expectHolds(property, [...run, ended({ at: 42_000, tokens: ['t1'] })], 1)
    expectRefused(property, [...run, ended({ at: 42_001, tokens: ['t1'] })], 'claim-row-left')
  })

  test('asks nothing while nobody sweeps without a hitch', () => {
    const late = [
      forgotten,
      node('crashed', { at: 90_000, by: 'w9' }),
      watch('moved', { at: 140_000, by: 'w8' }),
    ]
    expectHolds(property, [...begin, ...late, dispatched(150_000)], 1)
  })
})
