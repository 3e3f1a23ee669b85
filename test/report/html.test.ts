import { describe, expect, test } from 'vitest'
import { toldOf } from '../../src/report/html/events.ts'
import { htmlReport } from '../../src/report/html/document.ts'
import { compact } from '../../src/report/html/matrix.ts'
import { parseMutants } from '../../src/report/html/mutants.ts'
import type { Violation } from '../../src/sim/recorder.ts'
import { renewed } from '../properties/dsl.ts'
import { alive, failureOf, hostile, reportOf, resultOf, started, summaryOf } from './samples.ts'

const [violation] = resultOf().violations as [Violation]
const shrunk = { faults: 61, steps: 9, runs: 214, wallMs: 3_100, minimal: true, also: ['fencing: stale'] }

function failing(over: Parameters<typeof resultOf>[0] = {}): string {
  const failure = failureOf({ result: resultOf(over) })
  return htmlReport(reportOf({ verdict: 'violated', summary: summaryOf({ failures: [failure] }) }), 'again')
}

describe('the page', () => {
  const page = htmlReport(reportOf(), 'npx holdfast simulate --seeds 40')

  test('names its verdict, what ran, and the command that makes it again', () => {
    for (const text of ['<h1>Pass</h1>', '40 of 40', '193,423', 'npx holdfast simulate --seeds 40'])
      expect(page).toContain(text)
  })

  test('asks for nothing: no address, no file, no code from text', () => {
    expect(page).not.toMatch(/(?:src|href)="(?!#|data:,")/)
    expect(page).not.toMatch(
      /https?:(?!\/\/www\.w3\.org\/2000\/svg)|@import|url\((?!#)|eval\(|new Function|fetch\(/,
    )
    expect(page).toMatch(/Content-Security-Policy" content="default-src 'none'; style-src 'sha256-/)
  })

  test('counts each invariant under each family, and says what never struck', () => {
    expect(page).toContain('title="fencing under crash: 210"')
    expect(page).toContain('title="partition never struck"')
    expect(page).not.toContain('title="crash never struck"')
  })

  test.each([
    [{ evaluations: 0, applicable: true }, 'is-vacuous', 'vacuous'],
    [{ evaluations: 0, applicable: false }, 'is-not-applicable', 'not applicable'],
    [{ violations: 2 }, 'is-violated', 'violated 2 x'],
  ])('a row with %j stands out as %s', (over, name, says) => {
    const [first] = summaryOf().properties
    const properties = [{ ...first, ...over }] as unknown as ReturnType<typeof summaryOf>['properties']
    const text = htmlReport(reportOf({ summary: summaryOf({ properties }) }), 'again')
    expect(text).toContain(`class="row ${name}"`)
    expect(text).toContain(`<span class="tag">${says}</span>`)
  })

  test.each([
    [0, '0'],
    [999, '999'],
    [1_000, '1.0k'],
    [9_949, '9.9k'],
    [9_950, '10k'],
    [999_499, '999k'],
    [999_500, '1.0M'],
    [12_345_678, '12M'],
  ])('%d has room in a cell as %s', (value, text) => {
    expect(compact(value)).toBe(text)
  })

  test('draws how many behaviours each hundred seeds brought, once there are some hundreds', () => {
    const coverage = { behaviours: 60, newPerHundred: [50, 9, 1] }
    const text = htmlReport(reportOf({ summary: summaryOf({ coverage }) }), 'again')
    expect(text).toContain('<polyline points="6.0,6.0 320.0,74.9 634.0,88.3">')
    expect(page).not.toContain('<polyline')
  })
})

describe('a failure on the page', () => {
  test('says what it takes, and how to see it again', () => {
    const text = failing({ shrunk: { ...shrunk, passing: null } })
    expect(text).toContain('<strong>1</strong> of 61 faults')
    expect(text).toContain('crash #1 (on w1, at +0 s, for 0.5 s)')
    expect(text).toContain('npx holdfast replay 0x9f3a --scenario standard --store memory')
    expect(text).toContain('fencing: stale')
  })

  test('has the nearest passing run beside it, and what they have in common is faint', () => {
    const story = [started('j7', 1_700), started('j7', 1_800, 'w3')]
    const text = failing({
      story: [started('j7', 1_000), started('j7', 2_000, 'w2')],
      shrunk: { ...shrunk, passing: { lacks: 'crash #1', story } },
    })
    expect(text).toContain('without crash #1')
    const lines = [...text.matchAll(/<li class="(\w*)"><span>\+([\d.]+)s/g)].map(
      ([, is, at]) => `${is} ${at}`,
    )
    expect(lines).toEqual(['same 1.000', 'end 2.000', 'same 1.700', 'own 1.800'])
  })

  test('takes two rows that are alike for the same, however long they are', () => {
    const rows = (times: readonly number[]) => [
      started('j7', 1_000),
      ...times.map((at) => renewed('j7', { at })),
      started('j7', 9_000),
    ]
    const passing = { lacks: 'crash #1', story: rows([2_000]) }
    const text = failing({ story: rows([3_000, 4_000]), shrunk: { ...shrunk, passing } })
    expect(text).toContain('2 x renews the lease of j7')
    expect(text).not.toContain('<li class="own">')
  })

  test('of many seeds is told once, with the commands of the others', () => {
    const failures = [failureOf(), failureOf({ seed: '0x77' })]
    const text = htmlReport(reportOf({ verdict: 'violated', summary: summaryOf({ failures }) }), 'again')
    expect(text.match(/<details class="failure"/g)).toHaveLength(1)
    expect(text).toContain('npx holdfast replay 0x77 ')
  })

  test('without a result has what there is', () => {
    const failures = [failureOf({ kind: 'hung', result: null, scenario: null })]
    const text = htmlReport(reportOf({ verdict: 'inconclusive', summary: summaryOf({ failures }) }), 'again')
    expect(text).toContain('HUNG')
    expect(text).not.toContain('<div class="explorer">')
  })
})

describe('the events of a run', () => {
  const step = { atMs: 1, node: 'w1', incarnation: 1, step: 'timer', label: 'poll', outcome: '' } as const

  test('know which of them showed the violation: the one of its type after so many steps', () => {
    const claimed = { ...started('j7', 7), type: 'job.claimed' } as unknown as ReturnType<typeof started>
    const story = [step, claimed, step, started('j7', 7), claimed, step, claimed]
    const told = toldOf(resultOf({ story }), { ...violation, atMs: 7, event: 2 }, 1e6)
    expect(told.violated).toBe(4)
    expect(toldOf(resultOf({ story }), { ...violation, atMs: 8, event: 2 }, 1e6).violated).toBeNull()
  })

  test('that are too many are left out from the outside in, messages first, and counted', () => {
    const story = Array.from({ length: 3_000 }, (_, k) =>
      k % 3 === 0 ? started(`j${k % 2 ? 7 : 8}`, k) : { ...step, atMs: k },
    )
    const told = toldOf(resultOf({ story }), { ...violation, atMs: 3_000, event: 1e9 }, 100_000)
    expect(JSON.stringify(told).length).toBeLessThan(101_000)
    expect([told.total, told.left]).toEqual([
      3_000,
      expect.stringMatching(/^Left out, .*: \d+ about others; 2,000 messages and timers\./),
    ])
    const numbers = told.events.map(([number]) => number)
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    // All of the subject, and of the others those that are nearest.
    expect(told.events.filter(([, , line]) => 'job' in line && line.job === 'j7')).toHaveLength(500)
    const others = numbers.filter((number) => (number - 1) % 2 === 0)
    expect(others).toEqual(
      Array.from({ length: others.length }, (_, k) => 2_995 - 6 * (others.length - 1 - k)),
    )
  })

  test('with a line of a megabyte still fit on the page', () => {
    const text = failing({ story: [started('x'.repeat(1 << 20), 1), started('j7', 2)] })
    expect(text.length).toBeLessThan(100_000)
    expect(text).toContain('characters more')
  })
})

describe('the mutants', () => {
  const mutant = { id: 'fence-off', killed: true, property: 'fencing', seeds: 3, wallMs: 120 }

  test('are a section where somebody looked for them', () => {
    const told = parseMutants(JSON.stringify({ mutants: [mutant], survivors: ['other'] }))
    const text = htmlReport(reportOf(), 'again', { mutants: told })
    expect(text).toContain('1 of 1 were seen')
    expect(text).toContain('Survived: other.')
    expect(htmlReport(reportOf(), 'again')).not.toContain('id="mutants"')
  })

  test('tell what exploring schedules shows of them, if somebody tried', () => {
    const shown = { topology: 'lease-lapse', deviations: 1, wallMs: 1_234 }
    const mutants = [
      { ...mutant, schedules: { asked: true, shown } },
      { ...mutant, id: 'hidden', schedules: { asked: true, shown: null } },
      { ...mutant, id: 'elsewhere', schedules: { asked: false, shown: null } },
      { ...mutant, id: 'on-sqlite', schedules: null },
    ]
    const text = htmlReport(reportOf(), 'again', {
      mutants: parseMutants(JSON.stringify({ mutants, survivors: [] })),
    })
    expect(text).toContain('1 of the 2 about what a topology judges (1 at 1 deviation)')
    expect(text).toContain('<td>lease-lapse, 1 deviation</td><td class="n">1,234</td>')
    for (const words of ['not within the bound', 'no topology judges it', 'not tried'])
      expect(text).toContain(`<td>${words}</td>`)
    const untried = { mutants: [mutant], survivors: [] }
    expect(htmlReport(reportOf(), 'again', { mutants: untried })).not.toContain('by exploring')
  })

  test('whose schedules are something else are no result', () => {
    const text = JSON.stringify({ mutants: [{ ...mutant, schedules: { asked: 1 } }], survivors: [] })
    expect(() => parseMutants(text)).toThrow(/no result of the mutants/)
  })

  test.each(['', 'null', '{}', '{"mutants":[{}],"survivors":[]}', '{"mutants":[],"survivors":[1]}'])(
    'are not made of %j',
    (text) => {
      expect(() => parseMutants(text)).toThrow(/no result of the mutants/)
    },
  )
})

test.each(hostile)('%j is text wherever it stands on the page (X03)', (name) => {
  const failure = failureOf({
    scenario: name,
    message: name,
    property: name,
    result: resultOf({
      violations: [{ ...violation, subject: name, message: name }],
      plan: [{ id: name, family: 'crash', atMs: 5, node: name }],
      shrunk: { ...shrunk, also: [name], passing: { lacks: name, story: [started(name, 3, name)] } },
      story: [started(name, 1, name)],
    }),
  })
  const summary = summaryOf({
    failures: [failure],
    unreached: [name],
    scenarios: { [name]: 1 },
    faults: { [name]: 1 },
  })
  const plain = htmlReport(reportOf({ summary: summaryOf({ failures: [failureOf()] }) }), 'again')
  const report = reportOf({ verdict: 'violated', summary, store: name, module: name, reasons: [name] })
  const text = htmlReport(report, name, { mutants: { mutants: [], survivors: [name] } })
  expect(text).not.toMatch(alive)
  expect(text.isWellFormed()).toBe(true)
  const tags = (of: string): string[] => [...new Set(of.match(/<\/?[a-z][a-z0-9]*/gi))].sort()
  const ours = new Set([
    ...tags(plain),
    '<ul',
    '<li',
    '</ul',
    '</li',
    '<strong',
    '</strong',
    '<small',
    '</small',
  ])
  expect(tags(text).filter((tag) => !ours.has(tag))).toEqual([])
})
