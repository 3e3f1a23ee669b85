import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { jsonReport } from '../../src/report/json.ts'
import { markdownReport } from '../../src/report/markdown.ts'
import type { Violation } from '../../src/sim/recorder.ts'
import type { Failure } from '../../src/sim/tally.ts'
import { failureText, textReport } from '../../src/report/text.ts'
import { alive, failureOf, hostile, reportOf, resultOf, started, summaryOf } from './samples.ts'

/** A report in which everything that others can name has that name. */
function named(name: string) {
  const about = { property: 'fencing', kind: 'k', on: 'job.settled', subject: name, message: name }
  const violation = { ...about, atMs: 9_000, event: 9 }
  const result = resultOf({
    scenario: name,
    violations: [violation],
    story: [started(name, 1_000), started(name, 2_000, name)],
  })
  const failure = failureOf({ scenario: name, message: name, property: name, result })
  const replays = [{ seed: failure.seed, property: name, path: `reports/${name}` }]
  const summary = summaryOf({ failures: [failure], vacuous: [name] })
  return reportOf({ verdict: 'violated', summary, replays, module: name, reasons: [name] })
}

describe('hostile names and errors (X03)', () => {
  test.each(hostile)('%j is inert in the text', (name) => {
    const text = textReport(named(name))
    expect(text).not.toMatch(alive)
    expect(text.isWellFormed()).toBe(true)
    expect(text.split('\n').filter((line) => line.startsWith('FAIL '))).toHaveLength(1)
  })

  test.each(hostile)('%j is inert in Markdown', (name) => {
    const text = markdownReport({ ...named(name), store: name }, `npx holdfast simulate ${name}`)
    expect(text).not.toMatch(alive)
    expect(text.isWellFormed()).toBe(true)
    const fences = text.split('\n').filter((line) => /^ {0,3}```/.test(line))
    expect(fences).toEqual(['```text', '```'])
    const outside = text.replaceAll(/```text\n[^]*?\n```/g, '').replaceAll(/`[^`\n]*`/g, '')
    expect(outside).not.toMatch(/<(?:script|img)/)
    expect(outside).not.toContain('](')
    expect(outside).not.toContain('@everyone')
    expect(outside).not.toContain('`')
  })

  test.each(hostile)('%j arrives in JSON as itself, and is inert in a terminal', (name) => {
    const text = jsonReport(named(name))
    expect(text).not.toMatch(alive)
    expect(text).not.toContain('<')
    expect(JSON.parse(text)).toMatchObject({ failures: [{ message: name, scenario: name, property: name }] })
  })

  test('a hostile name adds no column to a table', () => {
    const { summary } = reportOf()
    const properties = [{ ...summary.properties[0], name: 'a | b' }] as unknown as typeof summary.properties
    const text = markdownReport(reportOf({ summary: summaryOf({ properties }) }), 'again')
    const row = text.split('\n').find((line) => line.startsWith('| a'))
    expect(row?.match(/\|/g)).toHaveLength(5)
  })
})

describe('the text', () => {
  test('says how much was run, in figures that a person reads', () => {
    const text = textReport(reportOf())
    expect(text).toContain('40 of 40, over 1 scenario')
    expect(text).toContain('5.8 h in 5.6 s: 3,702 x real time')
    expect(text).toContain('193,423, 34,295 a second')
    expect(text).toMatch(/pause +1,051/)
    expect(text).toMatch(
      /fencing +always +7,476 +-\n {2}n\/a: what it is about did not happen; {2}-: never violated\n/,
    )
    expect(text).toContain('reached at least once: 1 of 2 interesting events')
    expect(text).toContain('never reached: never-seen')
    expect(text).toMatch(/PASS {2}no invariant was violated\n$/)
  })

  test.each([
    ['violated', 'FAIL'],
    ['inconclusive', 'INCONCLUSIVE'],
    ['nondeterministic', 'NONDETERMINISTIC'],
  ] as const)('%s never says PASS', (verdict, word) => {
    const text = textReport(reportOf({ verdict, reasons: ['because'] }))
    expect(text).toMatch(new RegExp(`^${word}`, 'm'))
    expect(text).not.toContain('PASS')
  })

  test('shows one failure of each kind, five kinds, and counts the rest', () => {
    const kinds = Array.from({ length: 8 }, (_, k) => failedOn(`kind-${k}`))
    const failures = [...kinds, failureOf({ ...failedOn('kind-0'), seed: '0x77' })]
    const text = textReport(reportOf({ verdict: 'violated', summary: summaryOf({ failures }) }))
    expect(text.match(/^FAIL exactly/gm)).toHaveLength(5)
    expect(text).toContain('the same with 1 other seed: 0x77')
    expect(text).toContain('and 3 more kinds of failure')
  })

  test('nothing divides by a time of 0 ms', () => {
    expect(textReport(reportOf({ wallMs: 0 }))).not.toMatch(/NaN|∞|Infinity/)
  })
})

function failedOn(kind: string): Failure {
  const [violation] = resultOf().violations as [Violation]
  return failureOf({ result: resultOf({ violations: [{ ...violation, kind }] }) })
}

describe('a failure', () => {
  const context = {
    version: '0.1.0',
    engine: '4f2ac0f',
    replays: [],
    module: null,
    store: 'memory',
    families: null,
  }

  test('says what, when, where, and ends with the command that shows it again', () => {
    const replays = [{ seed: '0x9f3a', property: 'exactly-once-claim', path: 'reports/failures/e-9f3a.json' }]
    const lines = failureText(failureOf(), { ...context, replays })
    expect(lines[0]).toBe(
      'FAIL exactly-once-claim   seed 0x9f3a   t=+93.200s   event 1841   scenario standard   (holdfast 0.1.0, engine 4f2ac0f)',
    )
    expect(lines[1]).toBe('  two holders of job j7 at epoch 2: w1, w2')
    expect(lines[2]).toBe('  faults drawn 1, struck 1')
    expect(lines.at(-1)).toBe('  replay: npx holdfast replay reports/failures/e-9f3a.json')
  })

  test.each([
    [{}, '0x9f3a --scenario standard --store memory'],
    [{ scenario: null }, '0x9f3a --store memory'],
    [{ scenario: 'it is mine' }, "0x9f3a --scenario 'it is mine' --store memory"],
    [{ kind: 'nondeterministic' as const }, '0x9f3a --scenario standard --store memory --verify'],
  ])('without a file, its command names all that the run hangs on: %j', (over, command) => {
    const lines = failureText(failureOf(over), context)
    expect(lines.at(-1)).toBe(`  replay: npx holdfast replay ${command}`)
  })

  test('its command names the module and the families that it was limited to', () => {
    const limited = { ...context, module: 'my jobs.mjs', families: ['crash', 'pause'] }
    expect(failureText(failureOf(), limited).at(-1)).toBe(
      "  replay: npx holdfast replay 0x9f3a --scenario standard --store memory --faults crash,pause --module 'my jobs.mjs'",
    )
  })

  test('names what else was seen while it was shrunk', () => {
    const also = ['convergence: not-converged']
    const result = resultOf({ shrunk: { ...shrunk, also, passing: null } })
    expect(failureText(failureOf({ result }), context)).toContain(
      '  also seen while shrinking, not followed: convergence: not-converged',
    )
  })

  test('a file of another seed or property is not offered', () => {
    const replays = [{ seed: '0x1', property: 'exactly-once-claim', path: 'a.json' }]
    expect(failureText(failureOf(), { ...context, replays }).at(-1)).not.toContain('a.json')
  })
})

test('JSON has exactly the documented fields', () => {
  const report = reportOf({ verdict: 'violated', summary: summaryOf({ failures: [failureOf()] }) })
  const json = JSON.parse(jsonReport(report)) as Record<string, unknown>
  expect(Object.keys(json).sort().join(' ')).toBe(
    'command coverage engine events failures faults firstSeed matrix properties reasons scenarios seeds ' +
      'simulatedMs store text traceHash unreached verdict version wallMs',
  )
  expect(json).toMatchObject({
    seeds: 40,
    faults: { crash: 63 },
    properties: [
      { name: 'fencing', kind: 'always', evaluations: 7_476, violations: 0, reached: true },
      {},
      {},
    ],
    failures: [
      {
        property: 'exactly-once-claim',
        seed: '0x9f3a',
        replay: null,
        command: 'npx holdfast replay 0x9f3a --scenario standard --store memory',
      },
    ],
    unreached: ['never-seen'],
    text: textReport(report),
  })
})

test('every field of the JSON is told of in docs/reports.md, and every row there is a field', () => {
  const failures = [failureOf({ result: resultOf({ shrunk: { ...shrunk, passing: null } }) })]
  const json = JSON.parse(jsonReport(reportOf({ summary: summaryOf({ failures }) }))) as Record<
    string,
    unknown
  >
  const [, table = ''] = readFileSync('docs/reports.md', 'utf8').split('| field | means |\n| --- | --- |\n')
  const rows = table.split('\n\n')[0]?.split('\n') ?? []
  const told = rows.flatMap((row) => (row.split(' | ')[0] ?? '').match(/\w+/g) ?? [])
  expect(told.sort()).toEqual(Object.keys(json).sort())
  const inner = Object.keys((json['failures'] as object[])[0] ?? {})
  const row = rows.find((line) => line.startsWith('| `failures`')) ?? ''
  for (const field of [...inner, 'ofFaults', 'ofSteps', ...Object.keys(shrunk)])
    expect(row).toContain(`\`${field}\``)
})

const shrunk = { faults: 61, steps: 9, runs: 214, wallMs: 3_100, minimal: true, also: [] }
