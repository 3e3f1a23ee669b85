import { describe, test } from 'vitest'
import { timeoutEnforced as property } from '../../src/properties/index.ts'
import {
  attempt,
  attemptEnded,
  claimed,
  ended,
  expectHolds,
  expectRefused,
  fault,
  inserted,
  node,
  runStarted,
  settled,
  signalled,
  started,
  timedOut,
} from './dsl.ts'

/** Starts at 0; its time is over at 60,000, and it is abandoned at 70,000. */
const run = [runStarted(), inserted('a'), started('a', { at: 0 })]
const told = signalled('a', 'TIMEOUT', { at: 60_000 })
const failed = settled('a', { outcome: 'failed' })

describe('timeout-enforced (contract 0.6)', () => {
  test('accepts an attempt that is told in time, and charged', () => {
    expectHolds(property, [...run, told, attemptEnded('a', { at: 60_020 }), failed], 3)
    expectHolds(property, [
      ...run,
      told,
      attempt('abandoned', 'a'),
      attemptEnded('a', { at: 70_000 }),
      failed,
    ])
  })

  test('refuses one that is told too early or too late', () => {
    expectRefused(property, [...run, signalled('a', 'TIMEOUT', { at: 59_000 })], 'timed-out-early')
    expectRefused(property, [...run, signalled('a', 'TIMEOUT', { at: 61_000 })], 'timed-out-late')
  })

  test('refuses one that is not told, not abandoned, or never ends', () => {
    expectRefused(property, [...run, attemptEnded('a', { at: 60_001 })], 'timeout-not-told')
    expectRefused(property, [...run, told, attemptEnded('a', { at: 70_001 })], 'not-abandoned')
    expectRefused(property, [...run, told, ended({ at: 90_000 })], 'not-abandoned')
  })

  test('refuses one that is given back, or succeeds, after its time', () => {
    const over = [...run, told, attemptEnded('a', { at: 60_020 })]
    expectRefused(property, [...over, settled('a', { outcome: 'released' })], 'timeout-not-charged')
    expectRefused(property, [...over, settled('a')], 'timeout-not-charged')
  })

  test('excuses workers that stood still, whose timers were off, and attempts that were lost', () => {
    const asleep = [node('paused', { at: 50_000 }), node('resumed', { at: 80_000 })]
    expectHolds(property, [...run, ...asleep, signalled('a', 'TIMEOUT'), attemptEnded('a'), failed])
    const off = fault('timers', { at: 10, forMs: 2_000 })
    expectHolds(property, [...run, off, signalled('a', 'TIMEOUT', { at: 59_990 }), attemptEnded('a'), failed])
    expectHolds(property, [...run, told, attempt('lost', 'a'), attemptEnded('a', { at: 99_000 })], 1)
  })

  test('accepts the backstop of the sweep past the timeout, and refuses it before', () => {
    const claim = [inserted('a'), claimed('a', { at: 0 })]
    expectHolds(property, [...claim, timedOut('a', { at: 95_000 })], 1)
    expectRefused(property, [...claim, timedOut('a', { at: 50_000 })], 'timed-out-early')
  })
})
