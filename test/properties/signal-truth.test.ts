import { describe, test } from 'vitest'
import { signalTruth as property } from '../../src/properties/index.ts'
import { attempt, began, expectHolds, expectRefused, returned, signalled } from './dsl.ts'

const careful = began('a', { abortsUncertain: true })

describe('signal-truth (contract 0.21, 3.7)', () => {
  test('accepts that a handler is told of its loss', () => {
    expectHolds(property, [began('a'), attempt('lost', 'a'), signalled('a', 'LEASE_LOST'), returned('a')], 1)
    expectHolds(property, [began('a'), signalled('a', 'TIMEOUT'), attempt('lost', 'a'), returned('a')], 1)
  })

  test('refuses that it is not', () => {
    expectRefused(property, [began('a'), attempt('lost', 'a'), returned('a')], 'loss-untold')
  })

  test('accepts that an uncertain lease ends the handlers that asked for it, and no others', () => {
    const uncertain = [attempt('uncertain', 'a'), signalled('a', 'LEASE_UNCERTAIN')]
    expectHolds(property, [careful, ...uncertain, returned('a')], 2)
    expectHolds(property, [began('a'), attempt('uncertain', 'a'), returned('a')], 1)
    expectRefused(property, [began('a'), ...uncertain, returned('a')], 'aborted-unasked')
    expectRefused(property, [careful, attempt('uncertain', 'a'), returned('a')], 'uncertainty-untold')
  })
})
