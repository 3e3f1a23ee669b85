import { describe, expect, test } from 'vitest'
import { deviationWords } from '../../src/report/explore/deviation.ts'
import { exploreJson } from '../../src/report/explore/json.ts'
import { exploreJunit } from '../../src/report/explore/junit.ts'
import { exploreMarkdown } from '../../src/report/explore/markdown.ts'
import type { ExploredTopology } from '../../src/report/explore/report.ts'
import { exploreText } from '../../src/report/explore/text.ts'
import { inertJson } from '../../src/report/format.ts'
import { parseExplorations } from '../../src/report/html/explorations.ts'
import { htmlReport } from '../../src/report/html/document.ts'
import { exploreHtml } from '../../src/report/html/explore.ts'
import type { Taken } from '../../src/sim/explore/taken.ts'
import type { Fault } from '../../src/sim/faults/fault.ts'
import { casesOf } from './junit-cases.ts'
import {
  alive,
  counterexample,
  exploreReportOf,
  exploredOf,
  hostile,
  pausedAt10s,
  reportOf,
} from './samples.ts'

const passing = exploreReportOf(exploredOf())
const failing = exploreReportOf(counterexample('small'))

describe('a deviation in words', () => {
  const base = pausedAt10s()
  const request = { node: 'w2', what: 'request', label: 'jobs.settle' } as const

  test.each<[Fault['family'], Partial<Fault>, Taken['next'], string]>([
    ['lost-request', {}, request, 'the request jobs.settle of w2 is lost'],
    ['lost-reply', {}, { ...request, what: 'reply' }, 'the reply to jobs.settle of w2 is lost'],
    ['late-request', { forMs: 2_000 }, request, 'the request jobs.settle of w2 comes 2 s late'],
    [
      'pause',
      { node: 'w1', forMs: 500 },
      base.next,
      'w1 stands still for 0.5 s, just before the reply to watch.move of w1',
    ],
    [
      'crash',
      { node: 'w1', forMs: 500 },
      { ...base.next, what: 'timer', label: 'poll' },
      'w1 dies just before the timer poll of w1, and starts again after 0.5 s',
    ],
    [
      'database-restart',
      { forMs: 500, lands: true },
      request,
      'the database restarts for 0.5 s as the request jobs.settle of w2 reaches it; what is in flight takes effect',
    ],
  ])('%s %j', (family, over, next, words) => {
    const deviation = {
      step: 7,
      what: 'fault',
      fault: { id: '', family, atMs: 1, ...over },
      order: null,
    } as const
    expect(deviationWords({ ...base, deviation, next })).toBe(`+10.000s, step 7: ${words}`)
  })

  test('an order says what the operator does', () => {
    const fault = { id: '', family: 'operator', atMs: 1 } as const
    const order = { command: 'cancel', job: 'j1' } as const
    const deviation = { step: 7, what: 'fault', fault, order } as const
    expect(deviationWords({ ...base, deviation })).toBe(
      '+10.000s, step 7: an operator says cancel of j1, just before the reply to watch.move of w1',
    )
  })

  test('a swap names both: what goes first, and what would have', () => {
    const first = { node: null, what: 'environment', label: 'boot' } as const
    expect(deviationWords({ ...base, deviation: { step: 7, what: 'swap', nth: 1 }, first })).toBe(
      "+10.000s, step 7: 'boot' goes first, before the reply to watch.move of w1",
    )
  })
})

describe('the text of a counterexample', () => {
  const text = exploreText(failing)

  test('says how far it is from the default schedule, and where it leaves it, and no seed', () => {
    expect(text).toMatch(/^FAIL small {3}schedule with 1 deviation {3}t=\+30\.000s .* topology small /m)
    expect(text).toContain(
      'from the default schedule:\n    +10.000s, step 21: w1 stands still for 33 s, just before',
    )
    expect(text).toContain('it takes 1 deviation from the default schedule, and no fewer will do')
    expect(text).toContain('replay: npx holdfast replay reports/small')
    expect(text).not.toContain('seed')
  })

  test('without a file has the command that finds it anew', () => {
    const one = counterexample('small')
    expect(exploreText(exploreReportOf({ ...one, replay: null }))).toContain(
      'replay: npx holdfast explore --scenario small --deviations 1',
    )
  })

  test('of two topologies that break one invariant each has its own command', () => {
    const [a, b] = [counterexample('small'), counterexample('other')]
    const report = exploreReportOf(a, { ...b, failure: b.failure && { ...b.failure, property: 'small' } })
    for (const told of [exploreText(report), exploreHtml(report, 'again')])
      for (const name of ['small', 'other']) expect(told).toContain(`npx holdfast replay reports/${name}`)
  })
})

describe('the page of explore', () => {
  const page = exploreHtml(passing, 'npx holdfast explore --deviations 1')

  test('says what was proven: the bound, the states, the counts of each level, the command', () => {
    for (const text of [
      '<h1>Pass</h1>',
      'at most 1 deviation of {another order within an instant, lost-request',
      'All schedules within that bound were walked: 891 states',
      'probability that two of them were taken for one &#60; 10^-32',
      '<tr><th scope="row">1</th><td class="n">8</td><td class="n">8</td><td class="n">800</td><td class="n">792</td><td class="n">1</td></tr>',
      'title="fencing in standard: 3,034"',
      '450 a second',
      'npx holdfast explore --deviations 1',
    ])
      expect(page).toContain(text)
    expect(page).not.toContain('id="failures"')
  })

  test('asks for nothing: no address, no file, no code from text', () => {
    for (const text of [page, exploreHtml(failing, 'again')]) {
      expect(text).not.toMatch(/(?:src|href)="(?!#|data:,")/)
      expect(text).not.toMatch(/https?:(?!\/\/www\.w3\.org\/2000\/svg)|@import|url\((?!#)|eval\(|fetch\(/)
      expect(text).not.toMatch(/ style="/)
    }
  })

  test('draws when schedules leave the default, those that were pruned, and when', () => {
    expect(page).toContain(
      '<title>from +10 s: 8 leave, of them 1 pruned, 0 not walked; 0 come to a known state</title>',
    )
    // 8 schedules are 38 units high: 7 of them were walked, one was pruned; x is 10 s of 60 s.
    expect(page).toContain('<rect class="left" x="166.7" y="74.8" width="14.3" height="33.3"></rect>')
    expect(page).toContain('<rect class="pruned" x="166.7" y="70.0" width="14.3" height="4.8"></rect>')
    expect(page).toContain('<rect class="joined" x="333.3" y="109.0" width="14.3" height="14.0"></rect>')
    expect(page).not.toContain('<rect class="unwalked"')
  })

  test('has the counterexample: its deviations, the nearest passing run, its path in the picture', () => {
    const text = exploreHtml(failing, 'again')
    expect(text).toContain('<strong>1</strong> deviation from the default schedule; no schedule with fewer')
    expect(text).toContain('<li>+10.000s, step 21: w1 stands still for 33 s, just before')
    expect(text).toContain('without +10.000s, step 21: w1 stands still')
    expect(text).toContain('<path class="path" d="M0 44H166.7V108H500.0"></path>')
    expect(text).toContain('<path class="violation" d="M500.0 68V124"></path>')
    expect(text).toContain('<rect class="unwalked"')
    expect(text).toContain('Exploring ended with the counterexample')
    expect(text).toContain('<div class="explorer">')
  })

  test('says of what is not complete that nothing is proven, and of what was never evaluated so', () => {
    const { result } = exploredOf()
    const properties = [{ name: 'fencing', evaluations: 0 }]
    const report = exploreReportOf(exploredOf({ result: { ...result, complete: false, properties } }))
    const text = exploreHtml(report, 'again')
    expect(report.verdict).toBe('inconclusive')
    expect(text).toContain('<strong>Not complete:</strong>')
    expect(text).toContain('<td class="n never" title="fencing in standard: 0">never</td>')
    expect(text).toContain('standard: no invariant was ever evaluated')
    expect(text).toContain('<li>fencing was never evaluated</li>')
  })

  test('holds nothing against a topology whose invariant another one puts to the test', () => {
    const { result } = exploredOf()
    const others = [
      { name: 'fencing', evaluations: 0 },
      { name: 'capacity', evaluations: 3 },
    ]
    const calm = exploredOf({ result: { ...result, properties: others } })
    expect(exploreReportOf(exploredOf(), calm)).toMatchObject({ verdict: 'pass', reasons: [] })
    expect(exploreReportOf(calm).reasons).toEqual(['fencing was never evaluated'])
  })
})

describe('JUnit of explore', () => {
  const endsOf = (...explored: readonly ExploredTopology[]): Record<string, string> =>
    Object.fromEntries(
      casesOf(exploreJunit(exploreReportOf(...explored))).map(({ of, name, ends }) => [
        `${of} ${name}`,
        ends,
      ]),
    )

  test('has a case for each topology, and for the run', () => {
    const { result } = exploredOf()
    expect(endsOf(exploredOf())).toEqual({ 'topologies standard': 'passes', 'run verdict': 'passes' })
    expect(endsOf(exploredOf({ result: { ...result, complete: false } }))).toEqual({
      'topologies standard': 'error',
      'run verdict': 'error',
    })
    const never = { ...result, properties: [{ name: 'fencing', evaluations: 0 }] }
    expect(endsOf(exploredOf({ result: never }))).toMatchObject({ 'topologies standard': 'error' })
    expect(endsOf(exploredOf(), counterexample('small'))).toEqual({
      'topologies standard': 'passes',
      'topologies small': 'failure',
      'run verdict': 'failure',
    })
  })
})

describe('explored bounds on the page of simulate', () => {
  test('stand there if explore.json lies beside it, as that tells them', () => {
    const json = inertJson(exploreJson(exploreReportOf(exploredOf(), counterexample('small'))))
    const text = htmlReport(reportOf(), 'again', { explored: parseExplorations(json) })
    expect(text).toContain('1 of 2 to their end without a violation')
    expect(text).toContain('<span class="tag">bounded-complete</span>')
    expect(text).toContain('<li><b>standard</b>: 2 workers, 1 sweeper apart, 2 jobs, 60 s')
    expect(htmlReport(reportOf(), 'again')).not.toContain('id="explored"')
  })

  test.each(['', 'null', '{}', '{"topologies":[null]}', '{"topologies":[{"name":"a"}]}'])(
    'are not made of %j',
    (text) => {
      expect(() => parseExplorations(text)).toThrow(/no result of explore/)
    },
  )
})

describe.each(hostile)('%j in every name (X03)', (name) => {
  const report = { ...exploreReportOf(counterexample(name)), module: name, reasons: [name] }

  test('is inert in text, Markdown, JSON, JUnit and the page', () => {
    const texts = [
      exploreText(report),
      exploreMarkdown(report, name),
      inertJson(exploreJson(report)),
      exploreHtml(report, name),
    ]
    for (const text of texts) {
      expect(text).not.toMatch(alive)
      expect(text.isWellFormed()).toBe(true)
    }
    expect(casesOf(exploreJunit(report))).toHaveLength(2)
  })

  test('is no markup of Markdown, and adds no column', () => {
    const text = exploreMarkdown(report, name)
    const fences = text.split('\n').filter((line) => /^ {0,3}```/.test(line))
    expect(fences).toEqual(['```text', '```'])
    const outside = text.replaceAll(/```text\n[^]*?\n```/g, '').replaceAll(/`[^`\n]*`/g, '')
    for (const mark of ['<script', '<img', '](', '@everyone', '`']) expect(outside).not.toContain(mark)
    const row = text.split('\n').find((line) => line.includes('| violated |'))
    expect(row?.match(/\|/g)).toHaveLength(11)
  })
})
