import { describe, test } from 'vitest'
import { ownWorkOnly as property } from '../../src/properties/index.ts'
import { claimed, expectHolds, expectRefused, inserted, node } from './dsl.ts'

const begin = [node('started')]

describe('own-work-only (contract 0.7, 2.5)', () => {
  test('accepts jobs of its queues and kinds', () => {
    expectHolds(
      property,
      [...begin, inserted('a'), claimed('a'), inserted('b', { queue: 'long' }), claimed('b')],
      2,
    )
  })

  test('refuses jobs of other queues, and of kinds that it has no handler for', () => {
    expectRefused(property, [...begin, inserted('a', { queue: 'other' }), claimed('a')], 'foreign-queue')
    expectRefused(property, [...begin, inserted('a', { kind: 'other' }), claimed('a')], 'foreign-kind')
  })
})
