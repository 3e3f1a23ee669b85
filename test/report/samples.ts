// Reports made up for tests.
import type { HistoryEvent } from '../../src/engine/history.ts'
import type { Report } from '../../src/report/report.ts'
import type { Judged } from '../../src/sim/judge.ts'
import type { Failure, Summary } from '../../src/sim/tally.ts'

export function summaryOf(over: Partial<Summary> = {}): Summary {
  return {
    seeds: 40,
    events: 193_423,
    simulatedMs: 20_880_000,
    traceHash: '866e0b8f6a2894fcebd04a33270da858',
    faults: { crash: 63, pause: 1_051 },
    scenarios: { standard: 40 },
    matrix: { fencing: { crash: 210, pause: 7_476 }, 'retry-happened': { pause: 3 } },
    coverage: { behaviours: 31, newPerHundred: [31] },
    properties: [
      { name: 'fencing', kind: 'always', evaluations: 7_476, violations: 0, reached: true, applicable: true },
      {
        name: 'retry-happened',
        kind: 'sometimes',
        evaluations: 3,
        violations: 0,
        reached: true,
        applicable: true,
      },
      {
        name: 'never-seen',
        kind: 'sometimes',
        evaluations: 0,
        violations: 0,
        reached: false,
        applicable: true,
      },
    ],
    failures: [],
    vacuous: [],
    unreached: ['never-seen'],
    ...over,
  }
}

export function reportOf(over: Partial<Report> = {}): Report {
  return {
    command: 'simulate',
    version: '0.1.0',
    engine: '53d66c9',
    store: 'memory',
    module: null,
    families: null,
    verdict: 'pass',
    seedsAsked: 40,
    firstSeed: '0x1',
    wallMs: 5_640,
    summary: summaryOf(),
    replays: [],
    reasons: [],
    ...over,
  }
}

export function failureOf(over: Partial<Failure> = {}): Failure {
  const result = resultOf()
  return {
    kind: 'violated',
    seed: '0x9f3a',
    scenario: 'standard',
    property: 'exactly-once-claim',
    message: 'two holders of job j7 at epoch 2: w1, w2',
    result,
    ...over,
  }
}

export function resultOf(over: Partial<Judged> = {}): Judged {
  return {
    seed: '0x9f3a',
    scenario: 'standard',
    verdict: 'violated',
    detail: null,
    leak: null,
    events: 2_000,
    traceHash: '866e0b8f6a2894fcebd04a33270da858',
    simulatedMs: 600_000,
    plan: [{ id: 'crash #1', family: 'crash', atMs: 5, node: 'w1', forMs: 500 }],
    strikes: { crash: 1 },
    behaviours: ['crash > job.reclaimed'],
    tallies: [],
    violations: [
      {
        property: 'exactly-once-claim',
        kind: 'two-holders',
        subject: 'j7',
        message: 'two holders of job j7 at epoch 2: w1, w2',
        on: 'job.claimed',
        atMs: 93_200,
        event: 1_841,
      },
    ],
    steps: 2,
    without: [],
    shrunk: null,
    state: null,
    draws: [1, 2],
    story: [started('j7', 1_000), started('j8', 2_000), started('j7', 99_000)],
    ...over,
  }
}

export function started(job: string, atMs: number, node = 'w1'): HistoryEvent {
  return { type: 'attempt.started', job, epoch: 1, attempt: 1, atMs, node, incarnation: 1 }
}

/** What users and attackers put into names and errors (X03). */
export const hostile: readonly string[] = [
  '\u001b[31mred\u001b[0m',
  '\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007',
  '\u009b31m',
  '\u202egnp.exe\u202c',
  '\u2066left\u2069',
  'line\nbreak\r\nand\u2028more\u2029',
  'a | b | c',
  '`code` ``` fence',
  '```\n<img src=x onerror=alert(1)>\n```',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '[click](javascript:alert(1))',
  '**bold** _it_ ~~gone~~ @everyone',
  'nul\u0000nul',
  'half \ud800 of it',
  '\udc00',
  '=cmd|calc',
  "it's; rm -rf ~",
  '$(reboot)',
  '\u{e0041}tag',
]

/** Whatever a terminal would obey. */
// oxlint-disable no-control-regex -- they are what it is about
export const alive =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u
