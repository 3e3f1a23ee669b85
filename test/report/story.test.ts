// What is told under a failure: the lines that decide, in one unit and by one clock.
import { describe, expect, test } from 'vitest'
import type { HistoryEvent } from '../../src/engine/history.ts'
import { storyOf } from '../../src/report/story.ts'
import { storyLines } from '../../src/report/teller.ts'
import { epochMs } from '../../src/sim/clock/node-clock.ts'
import type { Step } from '../../src/sim/recorder.ts'
import {
  acknowledged,
  attemptEnded,
  claimed,
  confirmed,
  down,
  fault,
  healed,
  inserted,
  jumped,
  noted,
  recalled,
  reclaimed,
  renewed,
  runStarted,
  up,
  watch,
} from '../properties/dsl.ts'
import { resultOf, started } from './samples.ts'

type Line = HistoryEvent | Step

const about = { property: 'p', kind: 'k', message: 'm', on: 'job.reclaimed', event: 1 }
const shrunk = { faults: 9, steps: 9, runs: 9, wallMs: 1, minimal: true, also: [], passing: null }

/** Without their columns: from who on. */
function told(
  story: readonly Line[],
  subject = 'j7',
  over: Partial<typeof about & typeof shrunk> = {},
): string[] {
  const lines = storyOf(resultOf({ story, shrunk }), { ...about, ...over, subject, atMs: 900_000 })
  return lines.map((line) => line.trim().replaceAll(/ +/g, ' '))
}

function failed(call: string, at: number, by = 'w1'): HistoryEvent {
  return { type: 'store.failed', call, sent: 'maybe', atMs: at, node: by, incarnation: 1 }
}

function heldBack(at: number, by = 'w1'): HistoryEvent {
  return { type: 'reclaim.heldBack', leases: 1, atMs: at, node: by, incarnation: 1 }
}

function step(what: Step['step'], label: string, at: number, outcome = ''): Step {
  return { step: what, label, outcome, atMs: at, node: 'w1', incarnation: 1 }
}

/** A move of the watch that has seen the database up since then, both by the clock of the run. */
function moved(at: number, sinceMs: number, kind: 'moved' | 'restarted' | 'refused' = 'moved', by = 'w9') {
  return watch(kind, { at, by, seenSinceMs: epochMs + sinceMs })
}

describe('the story of a violation', () => {
  test('is that of its job, until then', () => {
    const [violation] = resultOf().violations
    const lines = violation ? storyOf(resultOf(), violation) : []
    expect(lines).toEqual(['   +1.000s  w1#1      starts the handler of j7 at epoch 1 (attempt 1)'])
  })

  test('tells of the insert that failed before it was acknowledged, and of no other', () => {
    const story = [
      failed('jobs.insert', 5_000, 'client'),
      acknowledged('j8', { at: 6_000, tries: 2 }),
      failed('jobs.insert', 7_000, 'client'),
      acknowledged('j7', { at: 7_000 }),
      failed('jobs.insert', 9_000, 'client'),
    ]
    expect(told(story)).toEqual([
      '+7.000s client#1 jobs.insert fails, outcome unknown',
      '+7.000s client#1 is told that j7 is created, having sent it once',
    ])
  })

  test('says nothing of an acknowledgement that tells nothing new', () => {
    expect(told([inserted('j7', { at: 1_000 }), acknowledged('j7', { at: 1_001 })])).toEqual([
      '+1.000s client#1 enqueues j7 (work)',
    ])
  })

  test('tells of the claim that failed though it took the job, and of no claim of others', () => {
    const story = [
      failed('claims.claim', 500),
      claimed('j7', { at: 1_000 }),
      failed('claims.claim', 1_001),
      claimed('j7', { at: 2_000, by: 'w2', epoch: 2 }),
      { ...step('reply', 'claims.claim', 2_001, 'ok'), node: 'w2' },
      failed('claims.claim', 3_000, 'w2'),
    ]
    expect(told(story).filter((line) => line.includes('fails'))).toEqual([
      '+1.001s w1#1 claims.claim fails, outcome unknown',
    ])
  })

  test('tells of the settle that failed while its attempt was over and nobody knew it', () => {
    const story = [
      claimed('j7', { at: 1_000 }),
      failed('jobs.settle', 1_500),
      attemptEnded('j7', { at: 2_000 }),
      failed('jobs.settle', 7_000),
      confirmed('j7', { at: 8_000 }),
      failed('jobs.settle', 9_000),
    ]
    expect(told(story).filter((line) => line.includes('fails'))).toEqual([
      '+7.000s w1#1 jobs.settle fails, outcome unknown',
    ])
  })

  test('tells of every fault of a minimal plan, of others only where they struck near', () => {
    const story = [claimed('j7', { at: 1_000 }), fault('crash', { at: 2_000, by: 'w3' })]
    expect(told(story)).toContain('+2.000s w3#1 FAULT crash #1')
    const whole = resultOf({ story, shrunk: null })
    expect(storyOf(whole, { ...about, subject: 'j7', atMs: 9_000 })).toHaveLength(1)
  })

  test('folds a row of alike lines, across workers where they sweep', () => {
    const story = [
      moved(500, 100, 'restarted'),
      claimed('j7', { at: 1_000 }),
      ...[11_000, 21_000, 31_000].flatMap((at) => [renewed('j7', { at }), noted('j7', { at: at + 100 })]),
      moved(89_000, 100),
      heldBack(90_000, 'w2'),
      heldBack(95_000, 'w3'),
      moved(96_000, 100),
      moved(97_000, 100),
      reclaimed('j7', { at: 99_000 }),
    ]
    expect(told(story).slice(1, -1)).toEqual([
      '+31.000s w1#1 3 x renews the lease of j7 at epoch 1, until +61.000s (+11.000s .. +31.000s)',
      '+31.100s w1#1 3 x keeps the checkpoint k of j7 at epoch 1 (+11.100s .. +31.100s)',
      '+95.000s several 2 x holds back 1 lapsed lease: up 94.9 s (+90.000s .. +95.000s)',
      '+96.000s w9#1 moves the watch: up since +0.100s',
    ])
  })

  test('tells what the watch made of an outage, and nothing of its quiet moves', () => {
    const story = [
      runStarted(),
      moved(500, 500, 'restarted'),
      claimed('j7', { at: 1_000 }),
      moved(5_500, 500),
      down(6_000),
      up(30_000),
      moved(31_000, 500),
      moved(36_000, 500),
      moved(41_000, 500),
    ]
    expect(told(story).slice(1)).toEqual([
      '+6.000s world the database goes away for 0 s',
      '+30.000s world the database is back',
      '+31.000s w9#1 moves the watch after a gap of 25.5 s (over 10 s): up since +0.500s',
    ])
  })

  test('that the faults are over is told where something had to be so in the end', () => {
    const story = [started('j7', 1_000), { ...healed(), atMs: 2_000 }]
    expect(told(story)).toHaveLength(1)
    expect(told(story, 'j7', { on: 'run.ended' })).toHaveLength(2)
  })

  test('that is long leaves out what decides last, and says how much', () => {
    const story = [
      claimed('j7', { at: 500 }),
      fault('crash', { at: 600, by: 'w3' }),
      ...Array.from({ length: 98 }, (_, k) => started('j7', 1_000 + k)),
    ]
    const lines = told(story)
    expect(lines).toHaveLength(21)
    expect(lines.slice(0, 2)).toEqual([
      '... 80 more lines: see replay --trace',
      '+0.600s w3#1 FAULT crash #1',
    ])
    expect(lines.at(-1)).toContain('+1.097s')
  })

  test('its last lines are there, however much decides before them', () => {
    const faults = Array.from({ length: 50 }, (_, k) => fault('crash', { at: k, by: 'w1' }))
    const lines = told([...faults, ...[1, 2, 3, 4, 5].map((k) => started('j7', k * 1_000))])
    expect(lines.slice(-5).every((line) => line.includes('starts the handler'))).toBe(true)
    expect(lines).toHaveLength(21)
  })

  test('tells of a row of sweeps the last, and of a watch that begins anew every time', () => {
    const by = (at: number, kind: 'moved' | 'restarted') => moved(at, 0, kind, 'w1')
    expect(told([by(1_000, 'moved'), by(2_000, 'moved'), by(3_000, 'moved')], 'w1')).toHaveLength(1)
    expect(told([by(1_000, 'restarted'), by(2_000, 'restarted'), by(3_000, 'moved')], 'w1')).toHaveLength(3)
  })
})

describe('a trace', () => {
  test('tells messages and timers, too, line by line', () => {
    const reply = { ...step('reply', 'jobs.settle', 1_500, 'ok'), node: 'w2', incarnation: 3 }
    expect(storyLines([reply])).toEqual(['   +1.500s  w2#3      reply jobs.settle ok'])
  })

  test('has instants by the clock of the run, whatever that of the database did meanwhile', () => {
    const lines = storyLines([
      moved(1_000, 1_000, 'restarted'),
      jumped(60_000, { at: 2_000 }),
      moved(3_000, 1_000),
      heldBack(3_500),
      moved(4_000, 64_000, 'restarted'),
    ])
    expect(lines[2]).toContain('moves the watch: up since +1.000s')
    // Its own clock is what the database goes by.
    expect(lines[3]).toContain('holds back 1 lapsed lease: up 62.5 s')
    expect(lines[4]).toContain('restarts the watch: up since +4.000s')
  })

  test('says until when a lease is claimed and renewed', () => {
    const lines = storyLines([claimed('j7', { at: 1_000, leaseTtlMs: 12_000 }), renewed('j7', { at: 5_000 })])
    expect(lines[0]).toContain('(attempt 1, lease until +13.000s, under t1)')
    expect(lines[1]).toContain('renews the lease of j7 at epoch 1, until +17.000s')
  })

  test('has words for what its run goes by, and prints no object as such', () => {
    const [run, read, ended] = storyLines([
      runStarted(),
      recalled('j7', 5, { at: 10 }),
      { type: 'node.stopping', drainMs: 2_500, atMs: 20, node: 'w1', incarnation: 1 },
    ])
    expect(run).toContain('sweeps every 5 s, so a gap of over 10 s restarts the watch')
    expect(read).toMatch(/reads the checkpoints of j7: k$/)
    expect(ended).toMatch(/node\.stopping drain=2\.5 s$/)
    const final = { type: 'run.ended', converged: true, tokens: ['t1'], atMs: 1, node: 'env', incarnation: 0 }
    expect(storyLines([final as HistoryEvent])[0]).toMatch(/tokens=\["t1"\]$/)
  })

  const call = 'watch.move'
  const late = [step('request', call, 10_000), step('request', call, 15_000), failed(call, 15_000)]

  test('marks what lands when its caller has given it up, and what it did', () => {
    const lines = storyLines([
      down(9_000),
      ...late,
      step('execution', call, 17_200),
      moved(17_200, 0, 'moved', 'w1'),
      step('timer', 'sweep', 17_200),
      moved(17_200, 0, 'moved', 'w1'),
    ])
    expect(lines[4]).toMatch(/execution watch\.move \(given up at \+15\.000s\)$/)
    expect(lines[5]).toMatch(/up since \+0\.000s \(given up at \+15\.000s\)$/)
    expect(lines[7]).toMatch(/up since \+0\.000s$/)
  })

  test.each([
    ['that is prompt', [...late, step('execution', call, 15_010)]],
    ['that may be of one who waits', [...late, step('execution', call, 17_200)]],
    ['of another process', [...late, { ...step('execution', call, 17_200), node: 'w2' }]],
    [
      'after a failure that was its answer',
      [
        step('request', call, 10_000),
        step('request', call, 10_010),
        step('reply', call, 10_020, 'reset'),
        failed(call, 10_020),
        step('execution', call, 10_025),
      ],
    ],
  ])('marks no execution %s', (_name, story) => {
    expect(storyLines(story).join('\n')).not.toContain('given up')
  })

  test('marks the one that lands after the one that is in time', () => {
    const story = [...late, step('execution', call, 15_010), step('execution', call, 17_200)]
    expect(storyLines(story).at(-1)).toMatch(/execution watch\.move \(given up at \+15\.000s\)$/)
  })

  test('does not say when, where several were given up', () => {
    const story = [
      step('request', call, 10_000),
      failed(call, 15_000),
      step('request', call, 16_000),
      failed(call, 21_000),
      step('execution', call, 23_000),
    ]
    expect(storyLines(story).at(-1)).toMatch(/execution watch\.move \(given up before\)$/)
  })
})
