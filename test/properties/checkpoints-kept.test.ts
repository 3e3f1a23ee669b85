import { describe, test } from 'vitest'
import { checkpointsKept as property } from '../../src/properties/index.ts'
import { claimed, expectHolds, expectRefused, noted, recalled, reclaimed, settled } from './dsl.ts'

describe('checkpoints-kept (contract 0.13, 0.24)', () => {
  test('accepts what the holder keeps, and that the next attempt reads it', () => {
    const next = claimed('a', { epoch: 3, by: 'w2' })
    expectHolds(property, [
      claimed('a'),
      noted('a'),
      noted('a', { value: 4 }),
      reclaimed('a'),
      next,
      recalled('a', 4),
    ])
  })

  test('accepts that others are refused', () => {
    const late = noted('a', { applied: false })
    expectHolds(property, [claimed('a'), reclaimed('a'), late, recalled('a', null)])
    expectHolds(property, [claimed('a'), settled('a'), late])
  })

  test('refuses a note of an epoch that is over, or of another process', () => {
    expectRefused(property, [claimed('a'), reclaimed('a'), noted('a')], 'unfenced-note')
    expectRefused(property, [claimed('a'), settled('a'), noted('a', { what: 'progress' })], 'unfenced-note')
    expectRefused(property, [claimed('a'), noted('a', { by: 'w1#2' })], 'unfenced-note')
  })

  test('refuses that the holder is refused', () => {
    expectRefused(property, [claimed('a'), noted('a', { applied: false })], 'holder-refused')
  })

  test('refuses that what was kept is gone, or another, or comes from nowhere', () => {
    const kept = [claimed('a'), noted('a')]
    expectRefused(property, [...kept, recalled('a', null)], 'checkpoint-lost')
    expectRefused(property, [...kept, recalled('a', 5)], 'checkpoint-lost')
    expectRefused(property, [claimed('a'), recalled('a', 3)], 'checkpoint-lost')
    expectRefused(
      property,
      [claimed('a'), noted('a', { what: 'progress' }), recalled('a', 3)],
      'checkpoint-lost',
    )
  })
})
