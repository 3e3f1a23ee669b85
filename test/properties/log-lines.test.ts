import { describe, test } from 'vitest'
import { logLinesOnceInOrder as property } from '../../src/properties/index.ts'
import {
  type Draft,
  appended,
  attemptEnded,
  claimed,
  expectHolds,
  expectRefused,
  finalLog,
  node,
  reclaimed,
  runStarted,
  said,
  settled,
} from './dsl.ts'

const says = (text: number, epoch = 1, by = 'w1'): Draft =>
  said('handler.said', { job: 'a', epoch, text, by })
const lost = (why: 'unavailable' | 'fenced', at?: number): Draft =>
  said('log.lost', { job: 'a', epoch: 1, lines: 1, why, ...(at !== undefined && { at }) })
const commits = said('attempt.committing', { job: 'a', epoch: 1 })
const next = claimed('a', { epoch: 3, by: 'w2' })
const ends = [attemptEnded('a'), settled('a')]

/** An attempt that says two lines, of which the store takes so many, and succeeds. */
const whole = (...taken: readonly number[]): Draft[] => {
  return [claimed('a'), says(11), says(12), ...(taken.length > 0 ? [appended('a', taken)] : []), ...ends]
}

describe('log-lines-once-in-order (contract 13, 0.13; case E03)', () => {
  test('accepts what was said, by one attempt after the other, and repeats of it', () => {
    expectHolds(property, [...whole(11, 12), finalLog('a', '1:11 1:12')])
    const first = [claimed('a'), says(11), appended('a', [11]), appended('a', [11]), reclaimed('a')]
    const second = [next, says(21, 3, 'w2'), appended('a', [21], { epoch: 3, by: 'w2' })]
    expectHolds(property, [...first, ...second, finalLog('a', '1:11 3:21')])
  })

  test('accepts that the lines of others are refused', () => {
    const late = appended('a', [12], { applied: false })
    expectHolds(property, [...whole(11, 12), late, finalLog('a', '1:11 1:12')])
    expectHolds(property, [claimed('a'), says(12), reclaimed('a'), late])
  })

  test('accepts that lines are missing of an attempt that was not settled, that lost them, or that committed', () => {
    const none = finalLog('a', '')
    expectHolds(property, [claimed('a'), says(11), reclaimed('a'), none])
    expectHolds(property, [claimed('a'), says(11), lost('unavailable'), ...ends, none])
    expectHolds(property, [claimed('a'), says(11), commits, ...ends, none])
    // The engine tells of what it dropped in a line of its own.
    const noted = [claimed('a'), says(11), says(12), says(13), appended('a', [11, 0, 13]), ...ends]
    expectHolds(property, [...noted, finalLog('a', '1:11 1:0 1:13')])
  })

  test('accepts that what is said after the end of an attempt is not heard', () => {
    expectHolds(property, [...whole(11, 12), says(13), finalLog('a', '1:11 1:12')])
  })

  test('accepts that the first lines of a long log are gone, and nothing else', () => {
    const texts = Array.from({ length: 2_003 }, (_, k) => 100 + k)
    const all = [claimed('a'), ...texts.map((text) => says(text)), appended('a', texts), ...ends]
    const kept = texts.slice(3).map((text) => `1:${text}`)
    expectHolds(property, [...all, finalLog('a', kept.join(' '), 3)])
    expectRefused(property, [...all, finalLog('a', kept.join(' '), 0)], 'renumbered')
    const fewer = finalLog('a', kept.slice(1).join(' '), 4)
    expectRefused(property, [...all, fewer], 'renumbered')
    const other = finalLog('a', kept.with(5, '1:999999').join(' '), 3)
    expectRefused(property, [...all, other], 'line-unsaid')
  })

  test('refuses lines of one that does not hold the job, and that the holder is refused', () => {
    const line = appended('a', [11])
    expectRefused(property, [claimed('a'), reclaimed('a'), line], 'unfenced-line')
    expectRefused(property, [claimed('a'), reclaimed('a'), next, line], 'unfenced-line')
    expectRefused(property, [claimed('a'), settled('a'), line], 'unfenced-line')
    expectRefused(property, [claimed('a'), appended('a', [11], { applied: false })], 'holder-refused')
  })

  test('refuses a line twice, out of order, missing, or that nobody said', () => {
    expectRefused(property, [...whole(11, 11, 12), finalLog('a', '1:11 1:11 1:12')], 'line-twice')
    expectRefused(property, [...whole(12, 11), finalLog('a', '1:12 1:11')], 'line-twice')
    expectRefused(property, [...whole(12), finalLog('a', '1:12')], 'line-lost')
    expectRefused(property, [...whole(11), finalLog('a', '1:11')], 'line-lost')
    expectRefused(property, [...whole(), finalLog('a', '')], 'line-lost')
    expectRefused(property, [...whole(11, 12, 13), finalLog('a', '1:11 1:12 1:13')], 'line-unsaid')
    expectRefused(property, [...whole(11, 12, 13), finalLog('a', '1:11 1:12 2:13')], 'line-unsaid')
  })

  test('accepts that lines are given up after the time of a store call, or by a process that stops', () => {
    const ended = [runStarted(), claimed('a'), says(11), attemptEnded('a', { at: 1_000 })]
    const late = [lost('unavailable', 6_000), settled('a'), finalLog('a', '')]
    expectHolds(property, [...ended, ...late])
    const stops = node('stopping', { at: 1_000 })
    expectHolds(property, [...ended, stops, lost('unavailable', 1_100), settled('a'), finalLog('a', '')])
    expectRefused(property, [...ended, lost('unavailable', 1_100)], 'given-up-early')
  })

  test('refuses that an attempt is settled before its lines are there, which are refused then', () => {
    expectRefused(
      property,
      [...whole(11), appended('a', [12], { applied: false }), lost('fenced'), finalLog('a', '1:11')],
      'line-lost',
    )
  })

  test('refuses a line of a superseded attempt after one of the next', () => {
    const taken = [appended('a', [11]), reclaimed('a'), next, says(21, 3, 'w2')]
    const two = [claimed('a'), says(11), says(12), ...taken]
    const third = appended('a', [21, 12], { epoch: 3, by: 'w2' })
    expectRefused(property, [...two, third, finalLog('a', '1:11 3:21 1:12')], 'line-of-superseded-attempt')
  })

  test('refuses numbers that move: a repeat that counts again, a gap, a log that is not what was taken', () => {
    expectRefused(property, [...whole(11, 12), finalLog('a', '1:11 1:12', 1)], 'renumbered')
    expectRefused(property, [...whole(11), finalLog('a', '1:11 1:12')], 'renumbered')
    const gap = said('log.final', { job: 'a', next: 2, ns: [0, 2], epochs: [1, 1], texts: [11, 12] })
    expectRefused(property, [...whole(11, 12), gap], 'renumbered')
  })
})
