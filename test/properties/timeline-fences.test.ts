import { describe, expect, test } from 'vitest'
import { oldTimelineRefused, timelineFences as property } from '../../src/properties/index.ts'
import {
  appended,
  backedUp,
  claimed,
  expectHolds,
  expectRefused,
  judge,
  noted,
  recovered,
  removed,
  renewed,
  restored,
  said,
  settled,
  switched,
  takenBack,
  timeline,
} from './dsl.ts'

const first = 1_000_000
const begun = [claimed('a'), backedUp(), claimed('b'), restored(), timeline(), takenBack('a')]

describe('timeline-fences (contract 0.13, decision 24)', () => {
  test('accepts claims beyond where the timeline begins, and what they write', () => {
    const at = { epoch: first + 1 }
    const writes = [renewed('a', at), noted('a', at), appended('a', [1], at), settled('a', at)]
    expectHolds(property, [...begun, claimed('a', at), ...writes], 6)
  })

  test('accepts that what is from before is refused', () => {
    const lost = [
      settled('b', { settled: 'lost', state: 'queued' }),
      noted('a', { applied: false }),
      appended('a', [1], { applied: false }),
    ]
    expectHolds(property, [...begun, ...lost], 1)
    expect(judge(oldTimelineRefused, [...begun, ...lost]).evaluations).toBe(3)
    expect(judge(oldTimelineRefused, [claimed('a'), ...lost]).evaluations).toBe(0)
  })

  test('asks nothing of a run without a restore', () => {
    expect(judge(property, [claimed('a'), settled('a')]).evaluations).toBe(0)
  })

  test.each([
    ['a settle', settled('b')],
    ['a settle that says it is a repeat', settled('b', { repeated: true })],
    ['a renewal', renewed('a')],
    ['a recovery', recovered('a')],
    ['a checkpoint', noted('a')],
    ['progress', noted('a', { what: 'progress' })],
    ['a line', appended('a', [1])],
    ['a commit', said('effect.committed', { job: 'a', epoch: 1, result: 3 })],
  ])('refuses that %s from before applies', (_what, write) => {
    expectRefused(property, [...begun, write], 'write-from-before')
  })

  test('accepts that a settle from before the backup is confirmed, and refuses that of one from the lost hours', () => {
    const repeat = settled('a', { repeated: true })
    const known = [claimed('a'), settled('a'), backedUp(), restored(), timeline(), repeat]
    expectHolds(property, known, 1)
    const unknown = [claimed('a'), backedUp(), settled('a'), restored(), timeline(), repeat]
    expectRefused(property, unknown, 'write-from-before')
  })

  test('refuses a claim at an epoch from before, or at one that was given out in the lost hours', () => {
    expectRefused(property, [...begun, claimed('b', { epoch: 2 })], 'epoch-of-before')
    expectRefused(property, [...begun, claimed('b', { epoch: first })], 'epoch-of-before')
    // The same backup was restored once before.
    const earlier = [backedUp(), restored(), timeline(), claimed('b', { epoch: first + 1 })]
    const again = [restored(), timeline(1, { token: 'c2' }), claimed('b', { epoch: first + 1 })]
    expectRefused(property, [...earlier, ...again], 'epoch-again')
    const anew = [timeline(2, { token: 'c3' }), claimed('b', { epoch: 2 * first + 1 })]
    expectHolds(property, [...earlier, restored(), ...anew])
  })

  test('accepts that a job which comes by the id of one that was removed begins anew', () => {
    const at = { epoch: first + 1 }
    expectHolds(property, [...begun, claimed('a', at), settled('a', at), removed('a'), claimed('a', at)])
  })

  test('refuses a claim before anybody has said that the database was restored', () => {
    expectRefused(property, [backedUp(), restored(), claimed('a')], 'claimed-untold')
  })

  test('accepts that hold is lifted, and may be set again, and refuses that it stays', () => {
    expectHolds(property, [...begun, switched({}), switched({ hold: true })], 2)
    expectRefused(property, [...begun, switched({ hold: true })], 'still-held')
  })

  test('accepts that a repeat begins no timeline and that another call begins one more, and refuses the contrary', () => {
    expectHolds(property, [...begun, timeline(), timeline(2, { token: 'c2' })], 3)
    expectRefused(property, [...begun, timeline(2)], 'repeat-began-another')
    expectRefused(property, [...begun, timeline(1, { token: 'c2' })], 'timeline-again')
  })
})
