import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InvalidArgument } from '../../src/engine/errors.ts'
import { formatSeed, parseSeed, seedAt, seedMax } from '../../src/sim/seed.ts'

test.each([
  ['0', 0n],
  ['00', 0n],
  ['0x0', 0n],
  ['1', 1n],
  ['9007199254740992', 2n ** 53n],
  ['9007199254740993', 2n ** 53n + 1n],
  ['0x20000000000001', 2n ** 53n + 1n],
  ['18446744073709551615', seedMax],
  ['0xffffffffffffffff', seedMax],
  ['0XFFFFFFFFFFFFFFFF', seedMax],
])('%s is taken exactly', (text, seed) => {
  expect(parseSeed(text)).toBe(seed)
})

test.each([
  '18446744073709551616',
  '99999999999999999999',
  '100000000000000000000000000',
  '0x10000000000000000',
  '-1',
  '+1',
  '1.5',
  '1e3',
  '',
  ' ',
  ' 1',
  '1\n',
  '0x',
  'abc',
  '0b1',
  '1_000',
  'NaN',
  '١',
])('%j is refused', (text) => {
  expect(() => parseSeed(text)).toThrow(InvalidArgument)
})

test('a printed seed reads as itself', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: seedMax }), (seed) => {
      expect(parseSeed(formatSeed(seed))).toBe(seed)
      expect(parseSeed(String(seed))).toBe(seed)
    }),
  )
})

test('seeds go on at 0 after the largest', () => {
  expect(seedAt(seedMax, 0)).toBe(seedMax)
  expect(seedAt(seedMax, 1)).toBe(0n)
  expect(seedAt(2n ** 53n, 1)).toBe(2n ** 53n + 1n)
})
