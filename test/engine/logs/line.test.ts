// What a handler says, as a line that every store can keep.
import { describe, expect, test } from 'vitest'
import { lineText } from '../../../src/engine/logs/line.ts'

const bytes = (text: string): number => Buffer.byteLength(text)
const mark = ' ... (truncated)'

test.each<[unknown, unknown, string]>([
  ['plain', undefined, 'plain'],
  [
    'with',
    { order: 1, big: 10n, error: new TypeError('bad') },
    'with {"order":1,"big":"10","error":"TypeError: bad"}',
  ],
  [{ order: 1 }, 'as pino has it', 'as pino has it {"order":1}'],
  [undefined, undefined, 'undefined'],
  [null, undefined, 'null'],
  [7n, 8, '7 8'],
  [Symbol('odd'), undefined, 'Symbol(odd)'],
  [[1, 2], undefined, '[1,2]'],
  [{ toJSON: () => undefined }, undefined, '[object Object]'],
  ['a\0b\ud800', { '\0': '\udc00' }, 'a\uFFFDb\uFFFD {"\\u0000":"\\udc00"}'],
])('%o with %o', (message, fields, text) => {
  expect(lineText(message, fields)).toBe(text)
})

test('an error is shown with its stack', () => {
  const error = new Error('broken')
  expect(lineText(error, undefined)).toBe(error.stack)
  expect(lineText(Object.assign(new Error('broken'), { stack: 7 }), undefined)).toBe('Error: broken')
})

describe('what cannot be shown', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const thrower = {
    get stack(): string {
      throw new Error('no')
    },
  }
  test.each([
    ['a cycle', cycle],
    ['a revoked proxy', proxy],
    ['an error that throws when it is read', Object.setPrototypeOf(thrower, Error.prototype) as unknown],
    [
      'a member that throws',
      {
        toJSON: () => {
          throw new Error('no')
        },
      },
    ],
  ])('%s is a line all the same', (_what, odd) => {
    for (const text of [lineText(odd, undefined), lineText('x', odd), lineText(odd, odd)]) {
      expect(text).toEqual(expect.any(String))
      expect(text).not.toBe('')
    }
  })
})

describe('a line of more than 4 KiB', () => {
  test.each([
    ['ASCII', 'x'],
    ['two bytes', 'é'],
    ['three bytes', '€'],
    ['four bytes', '😀'],
    ['a mixture', 'x€😀é'],
    ['NUL', '\0'],
    ['lone surrogates', '\ud800'],
  ])('of %s is cut at a character, and marked', (_what, fill) => {
    for (let shift = 0; shift < 4; shift++) {
      const whole = 'x'.repeat(shift) + fill.repeat(5_000)
      const text = lineText(whole, undefined)
      expect(bytes(text)).toBeLessThanOrEqual(4_096)
      expect(bytes(text)).toBeGreaterThan(4_096 - 4)
      expect(text.endsWith(mark)).toBe(true)
      const kept = whole.toWellFormed().replaceAll('\0', '\uFFFD')
      expect(kept.startsWith(text.slice(0, -mark.length))).toBe(true)
      expect(text.isWellFormed()).toBe(true)
    }
  })

  test('is one from 4,097 bytes on, whatever its length in characters', () => {
    for (const fits of ['x'.repeat(4_096), '€'.repeat(1_365), '😀'.repeat(1_024)]) {
      expect(lineText(fits, undefined)).toBe(fits)
    }
    for (const over of ['x'.repeat(4_097), `${'€'.repeat(1_365)}xx`, `${'😀'.repeat(1_024)}x`]) {
      expect(lineText(over, undefined)).toMatch(/ \.\.\. \(truncated\)$/)
    }
  })
})
