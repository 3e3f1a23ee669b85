import { describe, test } from 'vitest'
import { replayAllEnds as property } from '../../src/properties/index.ts'
import { expectHolds, expectRefused, deadListed, replayed, said } from './dsl.ts'

const by = 'client'
const began = said('replay-all.began', { by, at: 1_000 })
const looked = deadListed(['a'], { at: 1_010, whole: false })

describe('replay-all-ends (E22)', () => {
  test('holds of what was dead before, page by page', () => {
    const first = replayed('a', { at: 1_020, deadForMs: 500 })
    const second = replayed('b', { at: 90_000, deadForMs: 88_995 })
    expectHolds(property, [began, looked, first, deadListed(['b']), second], 2)
  })

  test('says nothing of what others replay, or this process once it is over, or again', () => {
    const fresh = { at: 2_000, deadForMs: 5 }
    const ended = said('replay-all.ended', { by, at: 1_500 })
    expectHolds(
      property,
      [began, looked, replayed('a', { at: 1_020 }), replayed('b', { ...fresh, by: 'w2' })],
      1,
    )
    expectHolds(property, [began, looked, replayed('a', { at: 1_020 }), ended, replayed('b', fresh)], 1)
    const repeat = replayed('a', { at: 2_000, applied: false, deadForMs: null })
    expectHolds(property, [began, looked, replayed('a', { at: 1_020 }), repeat], 1)
  })

  test('refuses what died after it had looked', () => {
    expectRefused(property, [began, looked, replayed('a~r1', { at: 1_500, deadForMs: 5 })], 'went-round')
  })
})
