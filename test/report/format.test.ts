import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { count, inert, inertJson, longTime, quoted, seconds, table } from '../../src/report/format.ts'
import { alive, hostile } from './samples.ts'

test.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1,000'],
  [1_234_567.5, '1,234,568'],
])('%d is counted as %s, whatever the locale', (value, text) => {
  expect(count(value)).toBe(text)
})

test.each([
  [0, '0.0 s'],
  [5_640, '5.6 s'],
  [99_999, '100.0 s'],
  [100_000, '100 s'],
])('%d ms are %s', (ms, text) => {
  expect(seconds(ms)).toBe(text)
})

test.each([
  [59_999, '60.0 s'],
  [60_000, '1.0 min'],
  [3_599_999, '60.0 min'],
  [3_600_000, '1.0 h'],
  [172_799_999, '48.0 h'],
  [172_800_000, '2.0 days'],
])('%d simulated ms are %s', (ms, text) => {
  expect(longTime(ms)).toBe(text)
})

describe('inert (X03)', () => {
  test.each(hostile)('%j has nothing that a terminal obeys, and stays on its line', (text) => {
    expect(inert(text)).not.toMatch(alive)
    expect(inert(text)).not.toContain('\n')
    expect(inert(text).isWellFormed()).toBe(true)
  })

  test('plain text of all languages is left as it is', () => {
    for (const text of ['job-1', 'größer ≥ 1', '日本語', 'עברית', '👍🏽', 'a\\b'])
      expect(inert(text)).toBe(text)
  })

  test('any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(inert(text)).not.toMatch(alive)
        expect(inert(text).isWellFormed()).toBe(true)
      }),
    )
  })
})

describe('inert JSON', () => {
  test('is the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(inertJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
    expect(JSON.parse(inertJson(hostile))).toEqual(hostile)
  })

  test('obeys no terminal and closes no script', () => {
    expect(inertJson(hostile)).not.toMatch(alive)
    expect(inertJson(hostile)).not.toContain('<')
  })
})

describe('a word of a shell', () => {
  test.each(['reports/failures/a-1.json', 'a b.json', "it's", '$(reboot)', '`id`', 'a;b', '*', '', '~', '-'])(
    '%j arrives as itself',
    (text) => {
      const echoed = execFileSync('sh', ['-c', `printf '%s|' ${quoted(text)}`], { encoding: 'utf8' })
      expect(echoed).toBe(`${text}|`)
    },
  )
})

test('columns are as wide as their widest cell, numbers to the right', () => {
  const lines = table(
    [{ title: 'name' }, { title: 'n', right: true }],
    [
      ['a', '1'],
      ['longer', '1,000'],
    ],
  )
  expect(lines).toEqual(['  name        n', '  a           1', '  longer  1,000'])
})
