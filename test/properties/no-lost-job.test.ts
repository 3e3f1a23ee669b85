import { describe, test } from 'vitest'
import { noLostJob as property } from '../../src/properties/index.ts'
import { acknowledged, ended, expectHolds, expectRefused, final, inserted } from './dsl.ts'

describe('no-lost-job (contract 0.17, 1.11)', () => {
  test('accepts that every inserted job is there in the end, also one whose insert was repeated', () => {
    const again = inserted('a', { created: false })
    expectHolds(
      property,
      [inserted('a'), again, acknowledged('a'), inserted('b'), final('a'), final('b'), ended()],
      3,
    )
  })

  test('refuses the loss of an acknowledged job', () => {
    expectRefused(property, [inserted('a'), acknowledged('a'), ended()], 'acknowledged-job-lost')
    expectRefused(property, [acknowledged('a'), ended()], 'acknowledged-job-lost')
  })

  test('refuses the loss of a job that was inserted though nobody heard of it', () => {
    expectRefused(property, [inserted('a'), inserted('b'), final('b'), ended()], 'inserted-job-lost')
  })

  test('refuses a job that nobody inserted, and one that is there twice', () => {
    expectRefused(property, [final('a'), ended()], 'never-inserted')
    expectRefused(property, [inserted('a'), final('a'), final('a'), ended()], 'never-inserted')
  })

  test('refuses that a producer is told of its own job as of another’s, unless it had to ask twice', () => {
    const denied = acknowledged('a', { created: false })
    expectRefused(property, [inserted('a'), denied, final('a'), ended()], 'own-job-denied')
    expectHolds(property, [
      inserted('a'),
      acknowledged('a', { created: false, tries: 2 }),
      final('a'),
      ended(),
    ])
    expectHolds(property, [inserted('a'), acknowledged('a'), denied, final('a'), ended()])
  })
})
