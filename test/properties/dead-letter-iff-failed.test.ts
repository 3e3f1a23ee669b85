import { describe, test } from 'vitest'
import { deadLetterIffFailed as property } from '../../src/properties/index.ts'
import {
  commanded,
  discarded,
  expectHolds,
  expectRefused,
  final,
  deadListed,
  reclaimed,
  replayed,
  said,
  settled,
  timedOut,
  unreplayed,
} from './dsl.ts'

const failed = settled('a', { outcome: 'failed', state: 'failed' })
const other = { state: 'failed', dead: false } as const

describe('dead-letter-iff-failed (contract 0.5, 0.16)', () => {
  test('holds of what failed for good in whichever way, until somebody sees to it', () => {
    expectHolds(property, [failed, deadListed(['a']), final('a', { state: 'failed' })], 3)
    expectHolds(property, [reclaimed('a', { state: 'failed' }), final('a', { state: 'failed' })], 1)
    expectHolds(property, [timedOut('a', { state: 'failed' }), final('a', { state: 'failed' })], 1)
    expectHolds(
      property,
      [failed, replayed('a'), deadListed([]), final('a', { ...other, replayedAs: 'a~r1' })],
      2,
    )
    expectHolds(property, [failed, discarded('a'), final('a', other)], 2)
    expectHolds(property, [failed, commanded('a'), final('a', { state: 'queued', dead: false })], 1)
    expectHolds(property, [settled('a'), unreplayed('a'), final('a')], 2)
  })

  test('takes the repeat of a settle for no new failure, and a failure after a retry for one', () => {
    const repeat = settled('a', { outcome: 'failed', state: 'failed', repeated: true })
    expectHolds(property, [failed, replayed('a'), repeat, final('a', other)], 2)
    const again = settled('a', { outcome: 'failed', state: 'failed', epoch: 2 })
    expectHolds(property, [failed, commanded('a'), again, final('a', { state: 'failed' })], 1)
  })

  test('refuses a failure that lies nowhere', () => {
    expectRefused(property, [failed, deadListed([])], 'failed-unseen')
    expectRefused(property, [failed, unreplayed('a')], 'failed-unseen')
    expectRefused(property, [failed, said('discard.refused', { job: 'a' })], 'failed-unseen')
    expectRefused(property, [failed, discarded('a', { applied: false })], 'failed-unseen')
    expectRefused(property, [reclaimed('a', { state: 'failed' }), final('a', other)], 'failed-unseen')
  })

  test('does not ask for more than a part of the list has, nor of one whose place is taken', () => {
    expectHolds(
      property,
      [failed, deadListed([], { whole: false }), unreplayed('a', { why: 'taken' }), deadListed(['a'])],
      2,
    )
  })

  test('refuses one that is there though somebody saw to it, or nothing failed', () => {
    expectRefused(property, [failed, replayed('a'), deadListed(['a'])], 'no-longer-one')
    expectRefused(property, [failed, replayed('a'), discarded('a')], 'no-longer-one')
    expectRefused(property, [failed, commanded('a'), replayed('a')], 'no-longer-one')
    expectRefused(property, [settled('a'), final('a', { dead: true })], 'no-longer-one')
  })
})
