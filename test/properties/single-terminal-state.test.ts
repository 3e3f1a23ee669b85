import { describe, test } from 'vitest'
import { singleTerminalState as property } from '../../src/properties/index.ts'
import { claimed, expectHolds, expectRefused, final, reclaimed, settled, timedOut } from './dsl.ts'

const failed = { state: 'failed', outcome: 'failed' } as const

describe('single-terminal-state (contract 0.15)', () => {
  test('accepts a job that ends once and is found so', () => {
    expectHolds(property, [claimed('a'), settled('a'), final('a')], 1)
    expectHolds(
      property,
      [claimed('a'), reclaimed('a', { state: 'failed' }), final('a', { state: 'failed' })],
      1,
    )
  })

  test('accepts a repeat that confirms the end, and a zombie that is refused after it', () => {
    const refused = settled('a', { settled: 'lost', by: 'w2' })
    expectHolds(property, [claimed('a'), settled('a'), settled('a', { repeated: true }), refused], 2)
  })

  test('counts nothing for a job that has not ended', () => {
    expectHolds(
      property,
      [claimed('a'), settled('a', { outcome: 'failed' }), final('a', { state: 'queued' })],
      0,
    )
  })

  test.each([
    ['claim', claimed('a', { epoch: 2 })],
    ['settle', settled('a', failed)],
    ['reclaim', reclaimed('a')],
    ['timeout', timedOut('a')],
  ])('refuses a %s after the end', (_name, event) => {
    expectRefused(property, [claimed('a'), settled('a'), event], 'moved-after-the-end')
  })

  test('refuses a state that is another one when it is looked at again', () => {
    const other = settled('a', { settled: 'superseded', repeated: true, state: 'queued' })
    expectRefused(property, [claimed('a'), settled('a'), other], 'state-changed')
  })

  test('refuses a final state that is not the one that was committed', () => {
    expectRefused(property, [claimed('a'), settled('a', failed), final('a')], 'final-disagrees')
  })

  test('refuses an end that no event brought about', () => {
    expectRefused(property, [claimed('a'), final('a')], 'ended-unseen')
  })
})
