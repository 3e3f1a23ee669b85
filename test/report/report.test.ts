import { describe, expect, test } from 'vitest'
import { exitCodes, verdictOf } from '../../src/report/report.ts'
import type { Failure } from '../../src/sim/tally.ts'
import { failureOf, summaryOf } from './samples.ts'

const failing = (...kinds: Failure['kind'][]): { failures: Failure[] } => ({
  failures: kinds.map((kind) => failureOf({ kind })),
})

test('the exit codes are those that are documented', () => {
  expect(exitCodes).toEqual({ pass: 0, violated: 1, inconclusive: 3, nondeterministic: 4 })
})

describe('what a run as a whole amounts to (B05)', () => {
  test.each<[string, Parameters<typeof verdictOf>[0], number | null, string]>([
    ['all seeds passed', summaryOf(), 40, 'pass'],
    ['the time is over', summaryOf(), null, 'pass'],
    ['no seed ran', summaryOf({ seeds: 0 }), 0, 'inconclusive'],
    ['no seed ran in the time', summaryOf({ seeds: 0 }), null, 'inconclusive'],
    ['the time was next to nothing', summaryOf({ seeds: 2 }), null, 'inconclusive'],
    ['fewer seeds ran than were asked', summaryOf({ seeds: 39 }), 40, 'inconclusive'],
    ['something was vacuous', summaryOf({ vacuous: ['fencing was never evaluated'] }), 40, 'inconclusive'],
    ['a seed was violated', summaryOf(failing('violated')), 40, 'violated'],
    ['our own code broke', summaryOf(failing('error')), 40, 'violated'],
    ['a violation among vacuity', summaryOf({ ...failing('violated'), vacuous: ['x'] }), 40, 'violated'],
    ['a run hung', summaryOf(failing('hung')), 40, 'inconclusive'],
    ['time stood still', summaryOf(failing('livelock')), 40, 'inconclusive'],
    ['a run hung and another was violated', summaryOf(failing('hung', 'violated')), 40, 'violated'],
    ['a run leaked', summaryOf(failing('nondeterministic')), 40, 'nondeterministic'],
    ['a replay diverged', summaryOf(failing('diverged')), 1, 'nondeterministic'],
    [
      'a leak among violations',
      summaryOf(failing('violated', 'hung', 'nondeterministic')),
      40,
      'nondeterministic',
    ],
  ])('%s', (_, summary, asked, verdict) => {
    expect(verdictOf(summary, asked).verdict).toBe(verdict)
  })

  test('what is inconclusive says why', () => {
    const summary = summaryOf({ ...failing('hung'), seeds: 39, vacuous: ['fencing was never evaluated'] })
    expect(verdictOf(summary, 40).reasons).toEqual([
      'only 39 of 40 seeds were run',
      'not every run came to its end',
      'fencing was never evaluated',
    ])
    expect(verdictOf(summaryOf({ seeds: 0 }), 0).reasons).not.toEqual([])
    expect(verdictOf(summaryOf({ seeds: 3 }), null).reasons[0]).toMatch(
      /^only 3 seeds were run in the time given/,
    )
  })
})
