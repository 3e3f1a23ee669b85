import { describe, test } from 'vitest'
import { replayedOnceAndWhole as property } from '../../src/properties/index.ts'
import { commanded, expectHolds, expectRefused, final, replayed, unreplayed } from './dsl.ts'

const lineage = { root: 'a', parent: 'a', replays: 1 }
const marked = final('a', { state: 'failed', dead: false, replayedAs: 'a~r1' })

describe('replayed-once-and-whole (contract 0.16, 16, 27.3, 27.4; E22)', () => {
  test('holds of a chain of replays, however often each is asked for', () => {
    const again = replayed('a', { applied: false })
    const late = unreplayed('a', { why: 'already', as: 'a~r1' })
    const second = final('a~r1', { state: 'failed', replayedAs: 'a~r2', lineage })
    const third = final('a~r2', { lineage: { root: 'a', parent: 'a~r1', replays: 2 } })
    const chain = [replayed('a'), again, late, replayed('a~r1'), marked, second, third]
    expectHolds(property, chain, 7)
  })

  test('has nothing to say of what was never replayed', () => {
    expectHolds(property, [unreplayed('a'), commanded('a'), final('a'), replayed('b')], 1)
  })

  test('refuses a second job', () => {
    expectRefused(property, [replayed('a'), replayed('a')], 'replayed-twice')
    expectRefused(property, [replayed('a'), replayed('a', { as: 'x', applied: false })], 'replayed-twice')
    expectRefused(property, [replayed('a'), replayed('b', { as: 'a~r1' })], 'two-in-one')
    expectRefused(property, [replayed('a'), commanded('a')], 'retried-after-replay')
  })

  test('refuses a replay that made nothing, or another', () => {
    expectRefused(property, [replayed('a', { copied: null })], 'nothing-made')
    expectRefused(property, [replayed('a', { copied: 6 })], 'not-whole')
    expectRefused(property, [replayed('a', { as: 'a~r9' })], 'other-id')
  })

  test('refuses a lineage that is not its own', () => {
    expectRefused(property, [replayed('a', { lineage: null })], 'other-lineage')
    expectRefused(property, [replayed('a', { lineage: { ...lineage, replays: 2 } })], 'other-lineage')
    expectRefused(property, [replayed('a'), final('a~r1')], 'other-lineage')
    expectRefused(property, [replayed('b'), final('a', { lineage })], 'other-lineage')
  })

  test('refuses that who comes second is told anything else', () => {
    for (const why of ['refused', 'missing', 'taken'] as const) {
      expectRefused(property, [replayed('a'), unreplayed('a', { why })], 'told-otherwise')
    }
    expectRefused(property, [replayed('a'), unreplayed('a', { why: 'already', as: 'x' })], 'told-otherwise')
    expectRefused(property, [unreplayed('a', { why: 'already', as: 'x' })], 'told-otherwise')
  })

  test('refuses a mark that is not there, or says something else', () => {
    expectRefused(property, [replayed('a'), final('a', { state: 'failed' })], 'marked-otherwise')
    expectRefused(property, [replayed('b'), marked], 'marked-otherwise')
  })
})
