import { describe, test } from 'vitest'
import { effectOnce as property } from '../../src/properties/index.ts'
import { type Draft, attempt, attemptEnded, claimed, expectHolds, expectRefused } from './dsl.ts'
import { final, reclaimed, said, settled } from './dsl.ts'

describe('effect-once (contract 0.15, 0.17; E09)', () => {
  const kept = (epoch = 1, by = 'w1'): Draft => said('effect.committed', { job: 'a', epoch, result: 3, by })
  const told = (): Draft => said('attempt.committed', { job: 'a', epoch: 1 })

  test('accepts what is kept by the holder, with its success, and told', () => {
    expectHolds(property, [claimed('a'), kept(), settled('a'), told(), attemptEnded('a'), final('a')])
    const again = claimed('a', { epoch: 3, by: 'w2' })
    const second = [kept(3, 'w2'), settled('a', { epoch: 3, by: 'w2' }), attempt('lost', 'a'), final('a')]
    expectHolds(property, [claimed('a'), reclaimed('a'), again, ...second])
  })

  test('refuses that something is kept twice', () => {
    const again = claimed('a', { epoch: 3, by: 'w2' })
    expectRefused(property, [claimed('a'), kept(), reclaimed('a'), again, kept(3, 'w2')], 'effect-twice')
  })

  test('refuses what is kept by one that does not hold the job, or whose attempt had ended', () => {
    expectRefused(property, [claimed('a'), reclaimed('a'), kept()], 'effect-unfenced')
    expectRefused(property, [claimed('a'), kept(1, 'w1#2')], 'effect-unfenced')
    const released = attemptEnded('a', { end: 'released' })
    expectRefused(property, [claimed('a'), released, kept()], 'effect-after-end')
  })

  test('refuses that a handler is told of what is not kept, or is not told of what is', () => {
    expectRefused(property, [claimed('a'), told()], 'effect-missing')
    expectRefused(property, [claimed('a'), kept(), attempt('lost', 'a')], 'effect-denied')
    expectRefused(property, [claimed('a'), kept(), attemptEnded('a', { end: 'failed' })], 'effect-denied')
  })

  test('refuses that something is kept without success', () => {
    expectRefused(property, [claimed('a'), kept(), final('a', { state: 'failed' })], 'effect-without-success')
  })
})
