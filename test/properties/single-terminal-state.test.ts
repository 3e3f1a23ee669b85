import { describe, test } from 'vitest'
import { singleTerminalState as property } from '../../src/properties/index.ts'
import {
  cancelAsked,
  claimed,
  commanded,
  expectHolds,
  expectRefused,
  final,
  reclaimed,
  settled,
  timedOut,
} from './dsl.ts'

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

  test('a cancelled job has ended, and a cancel of it says so again', () => {
    expectHolds(property, [cancelAsked('a'), cancelAsked('a'), final('a', { state: 'cancelled' })], 2)
    expectRefused(property, [cancelAsked('a'), claimed('a')], 'moved-after-the-end')
    const requested = cancelAsked('a', { kind: 'requested' })
    expectRefused(property, [settled('a'), cancelAsked('a')], 'cancelled-after-the-end')
    expectRefused(property, [settled('a'), requested], 'cancelled-after-the-end')
    expectHolds(property, [claimed('a'), requested, settled('a', { outcome: 'cancelled' }), cancelAsked('a')])
  })

  test('a retry makes an ended job live again, once; only one that failed or was cancelled', () => {
    const ended = settled('a', { outcome: 'failed', state: 'failed' })
    const anew = [ended, commanded('a'), claimed('a', { epoch: 2 }), settled('a', { epoch: 2 })]
    expectHolds(property, [...anew, commanded('a'), final('a')])
    expectHolds(property, [cancelAsked('a'), commanded('a'), claimed('a'), settled('a'), final('a')])
    expectRefused(property, [...anew, claimed('a')], 'moved-after-the-end')
    expectRefused(property, [settled('a'), commanded('a')], 'retried-unended')
    expectRefused(property, [claimed('a'), commanded('a')], 'retried-unended')
    expectRefused(property, [ended, commanded('a', { applied: false }), claimed('a')], 'moved-after-the-end')
  })
})
