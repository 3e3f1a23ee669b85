import { describe, test } from 'vitest'
import { holdHolds as property } from '../../src/properties/index.ts'
import { claimed, expectHolds, expectRefused, inserted, switched } from './dsl.ts'

const [held, paused, free] = [switched({ hold: true }), switched({ paused: ['default'] }), switched({})]

describe('hold-holds (contract 0.12)', () => {
  test('accepts claims before and after, and of other queues meanwhile', () => {
    expectHolds(property, [inserted('a'), claimed('a'), held, free, claimed('a')], 1)
    expectHolds(property, [inserted('a', { queue: 'long' }), paused, claimed('a'), free], 1)
  })

  test('refuses a claim while everything is held, or its queue is paused', () => {
    expectRefused(property, [inserted('a'), held, claimed('a')], 'claimed-while-held')
    expectRefused(property, [inserted('a'), paused, claimed('a')], 'claimed-while-paused')
    expectRefused(property, [inserted('a'), held, free, paused, claimed('a')], 'claimed-while-paused')
  })
})
