// Reports made up for tests.
import type { HistoryEvent } from '../../src/engine/history.ts'
import {
  type ExploredTopology,
  type ExploreReport,
  verdictOfExplored,
} from '../../src/report/explore/report.ts'
import type { Report } from '../../src/report/report.ts'
import type { Level } from '../../src/sim/explore/spread.ts'
import type { Taken } from '../../src/sim/explore/taken.ts'
import { standard } from '../../src/sim/explore/topologies/standard.ts'
import type { Judged } from '../../src/sim/judge.ts'
import type { Failure, Summary } from '../../src/sim/tally.ts'

const judged = { suspendedBy: [], suspended: 0 }

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
      {
        name: 'fencing',
        kind: 'always',
        evaluations: 7_476,
        violations: 0,
        reached: true,
        applicable: true,
        ...judged,
      },
      {
        name: 'retry-happened',
        kind: 'sometimes',
        evaluations: 3,
        violations: 0,
        reached: true,
        applicable: true,
        ...judged,
      },
      {
        name: 'never-seen',
        kind: 'sometimes',
        evaluations: 0,
        violations: 0,
        reached: false,
        applicable: true,
        ...judged,
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

/** What one level of an exploration to 60 s did: `size` schedules that leave at 10 s, one of them pruned at 20 s. */
function levelOf(deviations: number, size: number, runs: number = size): Level {
  const bins = (at: number, value: number): number[] =>
    Array.from({ length: 60 }, (_, k) => (k === at ? value : 0))
  const pruned = runs > 1 ? 1 : 0
  const at = deviations === 0 ? 0 : 10
  const spread = {
    binMs: 1_000,
    left: bins(at, size),
    pruned: bins(at, pruned),
    joined: bins(20, pruned),
    unwalked: bins(at, size - runs),
  }
  return { deviations, schedules: size, runs, states: 100 * runs, distinct: 99 * runs, pruned, spread }
}

export function exploredOf(over: Partial<ExploredTopology> = {}): ExploredTopology {
  const levels = [levelOf(0, 1), levelOf(1, 8)]
  const sum = (of: (level: Level) => number): number => levels.reduce((all, level) => all + of(level), 0)
  const result = {
    level: levels.length - 1,
    left: 0,
    runs: sum(({ runs }) => runs),
    states: sum(({ states }) => states),
    distinct: sum(({ distinct }) => distinct),
    pruned: sum(({ pruned }) => pruned),
    replayed: 500,
    depthMax: 120,
    wallMs: 2_000,
    complete: true,
    found: null,
    levels,
    properties: [{ name: 'fencing', evaluations: 3_034 }],
  }
  return { topology: standard, deviations: 1, result, failure: null, replay: null, ...over }
}

export function exploreReportOf(...explored: readonly ExploredTopology[]): ExploreReport {
  return { version: '0.1.0', engine: '53d66c9', module: null, explored, ...verdictOfExplored(explored) }
}

/** w1 stands still for 33 s, from 10 s on. */
export function pausedAt10s(): Taken {
  const id = 'pause at step 21'
  const fault = { id, family: 'pause' as const, atMs: 10_000, node: 'w1', forMs: 33_000 }
  return {
    deviation: { step: 21, what: 'fault', fault, order: null },
    atMs: 10_000,
    next: { node: 'w1', what: 'reply', label: 'watch.move' },
    first: null,
  }
}

/** The schedule that deviates so, and violates something; everything that others name has that name. */
export function counterexample(name: string, taken: readonly Taken[] = [pausedAt10s()]): ExploredTopology {
  const { violations } = resultOf()
  const result = resultOf({
    seed: '0x0',
    scenario: name,
    draws: null,
    violations: violations.map((violation) => ({
      ...violation,
      atMs: 30_000,
      subject: name,
      message: name,
    })),
    deviations: taken.map(({ deviation }) => deviation),
    taken,
    passing: { lacks: name, story: [started(name, 1_000)] },
    story: [started(name, 1_000), started(name, 11_000, name)],
  })
  const failure = failureOf({ seed: '0x0', scenario: name, property: name, message: name, result })
  const levels = [levelOf(0, 1), levelOf(1, 8, 3)]
  const deviations = taken.map(({ deviation }) => deviation)
  const { violations: seen, traceHash } = result
  const found = { place: 2, deviations, violations: seen, traceHash }
  const [level, runs, states] = [1, 4, 400]
  return {
    topology: { ...standard, name, says: name },
    deviations: 2,
    result: {
      ...exploredOf().result,
      level,
      runs,
      states,
      levels,
      found,
      complete: false,
      properties: [{ name, evaluations: 7 }],
    },
    failure,
    replay: `reports/${name}`,
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
