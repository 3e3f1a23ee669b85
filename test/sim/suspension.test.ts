// A property is not judged in a run in which a fault has struck that makes it meaningless (`suspendedBy`).
import { expect, test } from 'vitest'
import { type Property, property } from '../../src/properties/index.ts'
import { htmlReport } from '../../src/report/html/document.ts'
import { markdownReport } from '../../src/report/markdown.ts'
import { textReport } from '../../src/report/text.ts'
import type { Fault } from '../../src/sim/faults/fault.ts'
import type { RunResult } from '../../src/sim/run.ts'
import { type Summary, createTally } from '../../src/sim/tally.ts'
import { reportOf } from '../report/samples.ts'
import { jobsOf, play, scenario } from './support.ts'

/** Refuses every claim. */
const touchy: Property = property({
  name: 'touchy',
  kind: 'always',
  says: 'Nothing is claimed.',
  blindSpot: 'None.',
  on: ['job.claimed'],
  suspendedBy: ['pause'],
  start: () => ({}),
  step(_state, { job }, verdict) {
    verdict.evaluated()
    verdict.violated({ kind: 'claimed', subject: job, message: `${job} was claimed` })
  },
})

/** Three jobs, half a minute apart. */
const work = (() => {
  const small = jobsOf(3, ({ sleep }) => sleep(100))
  const steps = small.workload?.(() => 0) ?? []
  return scenario({
    ...small,
    workload: () => steps.map((step, k) => ({ ...step, atMs: 8_000 + 30_000 * k })),
  })
})()

/** When all workers are there, and there is no work yet. */
const atOnce = 6_000

function runWith(atMs: number | null): Promise<RunResult> {
  const pause: Fault = { id: 'pause #1', family: 'pause', atMs: atMs ?? 0, node: 'w1', forMs: 1_000 }
  return play({ scenario: work, properties: [touchy], plan: atMs === null ? [] : [pause] })
}

function summaryOf(...results: readonly RunResult[]): Summary {
  const tally = createTally({ properties: [touchy], asked: [], single: false })
  for (const [k, result] of results.entries()) {
    tally.add(k, { kind: 'result', result: { ...result, shrunk: null, state: null } })
  }
  return tally.summary()
}

test('it judges where no such fault strikes', async () => {
  const { verdict, tallies } = await runWith(null)
  expect(verdict).toBe('violated')
  expect(tallies[0]).toMatchObject({ evaluations: 3, violations: 3, suspended: 0 })
})

test('from the fault on it judges nothing; what it saw before stands', async () => {
  const late = await runWith(50_000)
  expect(late.tallies[0]).toMatchObject({ evaluations: 2, violations: 2, suspended: 1 })
  const early = await runWith(atOnce)
  expect(early.verdict).toBe('pass')
  expect(early.tallies[0]).toMatchObject({ evaluations: 0, violations: 0, suspended: 1 })
})

test('reports say so, and a property that was suspended in every run is not applicable', async () => {
  const suspended = await runWith(atOnce)
  const summary = summaryOf(suspended, suspended)
  expect(summary.properties[0]).toMatchObject({ name: 'touchy', applicable: false, suspended: 2 })
  expect(summary.matrix['touchy']?.['pause']).toBe(undefined)
  expect(summary.vacuous).toEqual([])
  const report = reportOf({ summary })
  const says = 'suspended: touchy, in 2 runs from the first pause on'
  expect(textReport(report)).toContain(says)
  expect(markdownReport(report, 'again')).toContain(says)
  expect(htmlReport(report, 'again')).toContain('touchy is suspended by pause')
  const both = summaryOf(suspended, await runWith(null))
  expect(both.properties[0]).toMatchObject({ applicable: true, suspended: 1 })
})
