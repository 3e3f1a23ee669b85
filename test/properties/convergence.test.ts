import { describe, test } from 'vitest'
import { convergence as property } from '../../src/properties/index.ts'
import { ended, expectHolds, expectRefused, healed } from './dsl.ts'

describe('convergence (design, section 3)', () => {
  test('accepts a run that healed and converged', () => {
    expectHolds(property, [healed(), ended()], 1)
  })

  test('refuses one that healed and did not', () => {
    expectRefused(property, [healed(), ended({ converged: false })], 'not-converged')
  })

  test('does not judge a run that never healed', () => {
    expectHolds(property, [ended({ converged: false })], 0)
  })
})
