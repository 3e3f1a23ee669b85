import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { junitReport } from '../../src/report/junit.ts'
import type { Report } from '../../src/report/report.ts'
import { casesOf } from './junit-cases.ts'
import { failureOf, hostile, reportOf, summaryOf } from './samples.ts'

function endsOf(report: Report): Record<string, string> {
  return Object.fromEntries(casesOf(junitReport(report)).map(({ of, name, ends }) => [`${of} ${name}`, ends]))
}

describe('JUnit', () => {
  test('has a case for each invariant, each event, each scenario, and the run', () => {
    expect(endsOf(reportOf())).toEqual({
      'invariants fencing': 'passes',
      'events retry-happened': 'passes',
      'events never-seen': 'skipped',
      'scenarios standard': 'passes',
      'run verdict': 'passes',
    })
  })

  test('tells a violation where it is looked for: with its invariant, and with its scenario', () => {
    const failures = [failureOf({ property: 'fencing' })]
    const [first] = summaryOf().properties
    const properties = [{ ...first, violations: 1 }] as unknown as ReturnType<typeof summaryOf>['properties']
    const report = reportOf({ verdict: 'violated', summary: summaryOf({ failures, properties }) })
    const broken = casesOf(junitReport(report)).filter(({ ends }) => ends === 'failure')
    expect(broken.map(({ of, name }) => `${of} ${name}`)).toEqual([
      'invariants fencing',
      'scenarios standard',
      'run verdict',
    ])
    for (const { text } of broken.slice(0, 2)) {
      expect(text).toContain('two holders of job j7 at epoch 2: w1, w2')
      expect(text).toContain('replay: npx holdfast replay 0x9f3a')
    }
  })

  test('does not call vacuous what passed (B05)', () => {
    const [first] = summaryOf().properties
    const properties = [{ ...first, evaluations: 0 }] as unknown as ReturnType<typeof summaryOf>['properties']
    const vacuous = ['fencing was never evaluated']
    const summary = summaryOf({ properties, vacuous })
    const report = reportOf({ verdict: 'inconclusive', reasons: vacuous, summary })
    expect(endsOf(report)).toMatchObject({ 'invariants fencing': 'error', 'run verdict': 'error' })
    const none = [{ ...first, evaluations: 0, applicable: false }] as unknown as typeof properties
    expect(endsOf(reportOf({ summary: summaryOf({ properties: none }) }))).toMatchObject({
      'invariants fencing': 'skipped',
    })
  })

  test('has a case for a run that did not live to tell its scenario', () => {
    const failures = [failureOf({ kind: 'hung', property: 'hung', scenario: null, result: null })]
    const report = reportOf({ verdict: 'inconclusive', summary: summaryOf({ failures }) })
    expect(endsOf(report)).toMatchObject({ 'scenarios chosen by the seed': 'error' })
  })

  test.each([
    ...hostile,
    ']]>',
    '<![CDATA[',
    '\ufffe',
    '\uffff',
    '\u{1fffe}',
    '&#0;',
    '&amp;',
    '"/><x y="',
    '\u0085',
    '\ud800]]>',
  ])('%j in every name and message is XML 1.0 (B07)', (name) => {
    const failures = [failureOf({ property: name, scenario: name, message: `${name}\n${name}` })]
    const judged = { suspendedBy: [], suspended: 0 }
    const properties = [
      { name, kind: 'always', evaluations: 1, violations: 1, reached: true, applicable: true, ...judged },
    ] as const
    const summary = summaryOf({ failures, properties, scenarios: { [name]: 1 } })
    const xml = junitReport(reportOf({ verdict: 'violated', reasons: [name], summary, command: name }))
    expect(casesOf(xml)).toHaveLength(3)
    expect(xml).not.toContain(']]>')
  })

  test('a message of a megabyte is whole in the text, and short in the attribute', () => {
    const failures = [failureOf({ message: 'x'.repeat(1 << 20) })]
    const xml = junitReport(reportOf({ verdict: 'violated', summary: summaryOf({ failures }) }))
    expect(xml).toContain('x'.repeat(1 << 20))
    for (const [, message] of xml.matchAll(/message="([^"]*)"/g)) expect(message?.length).toBeLessThan(1_100)
  })

  test.skipIf(!python())('a parser of XML reads it (skipped where there is no Python)', () => {
    const name = hostile.join('\ufffe]]>')
    const failures = [failureOf({ property: 'fencing', scenario: name, message: name })]
    const xml = junitReport(reportOf({ verdict: 'violated', summary: summaryOf({ failures }) }))
    const read =
      'import sys, xml.etree.ElementTree as e; print(len(e.fromstring(sys.stdin.buffer.read()).findall(".//testcase")))'
    expect(execFileSync('python3', ['-c', read], { input: xml, encoding: 'utf8' })).toBe('6\n')
  })
})

function python(): boolean {
  try {
    execFileSync('python3', ['-c', 'import xml.etree.ElementTree'])
    return true
  } catch {
    return false
  }
}
