import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createHash } from '../../src/sim/hash.ts'

function hashOf(...values: readonly unknown[]): string {
  const hash = createHash()
  for (const value of values) hash.value(value)
  return hash.digest()
}

test('equal content hashes alike, whoever made it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(hashOf(value)).toBe(hashOf(JSON.parse(JSON.stringify(value))))
    }),
  )
})

test('other content hashes otherwise', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(hashOf(a) === hashOf(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
    }),
    { numRuns: 1_000 },
  )
})

test('order counts', () => {
  expect(hashOf(1, 2)).not.toBe(hashOf(2, 1))
  expect(hashOf('a', 'b')).not.toBe(hashOf('b', 'a'))
  expect(hashOf([1, 2])).not.toBe(hashOf([2, 1]))
})

test.each<[unknown, unknown]>([
  [0, []],
  [0, {}],
  [0, false],
  [1, true],
  [1, '1'],
  [null, undefined],
  ['', null],
  [0.1, 0.2],
  [1, 1.5],
  [2 ** 31, -(2 ** 31)],
  [2 ** 32, 0],
  [2 ** 53, 2 ** 53 - 1],
  [Number.NaN, 0],
  [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  [5e-324, 0],
  [
    [[1], 2],
    [1, [2]],
  ],
  [[[], []], [[[]]]],
  [{ a: 1 }, { b: 1 }],
  [{ x: { a: 1 }, b: 2 }, { x: { a: 1, b: 2 } }],
  [{ x: {}, y: 1 }, { x: { y: 1 } }],
  ['\ud800', '\ufffd'],
  ['a\u0000', 'a'],
])('%j and %j differ', (a, b) => {
  expect(hashOf(a)).not.toBe(hashOf(b))
})

test('two values are not their concatenation', () => {
  expect(hashOf('ab', 'c')).not.toBe(hashOf('a', 'bc'))
  expect(hashOf({ a: 1 }, { b: 2 })).not.toBe(hashOf({ a: 1, b: 2 }))
})

test('100,000 simple values collide nowhere', () => {
  const hashes = new Set<string>()
  for (let k = 0; k < 20_000; k++) {
    for (const value of [k, k + 0.5, `j${k}`, [k], { k }]) hashes.add(hashOf(value))
  }
  expect(hashes.size).toBe(100_000)
})

test('it rolls: what came before is in it', () => {
  const hash = createHash()
  hash.number(1)
  const before = hash.digest()
  expect(hash.digest()).toBe(before)
  hash.text('a')
  expect(hash.digest()).not.toBe(before)
  expect(before).toMatch(/^[0-9a-f]{32}$/)
})

test('another process hashes alike (B01)', () => {
  const value = { job: 'j1', at: [1, 2.5, -0.1, 2 ** 40], text: 'ünï\ud800', none: null }
  const dist = new URL('../../dist/sim/hash.js', import.meta.url).href
  const program = `
    const { createHash } = await import(${JSON.stringify(dist)})
    const hash = createHash()
    hash.value(${JSON.stringify(value)})
    console.log(hash.digest())`
  const other = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  expect(other.trim()).toBe(hashOf(value))
})
