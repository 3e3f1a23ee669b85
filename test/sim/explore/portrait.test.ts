import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { epochMs } from '../../../src/sim/clock/node-clock.ts'
import { Portrait, Texts } from '../../../src/sim/explore/portrait.ts'

const texts = new Texts()

function drawn(value: unknown): Portrait {
  const portrait = new Portrait(texts)
  portrait.value(value)
  return portrait
}

function bitsOf(value: unknown): string {
  const { a, b, c, d } = drawn(value)
  return [a, b, c, d].join(' ')
}

describe('a portrait', () => {
  test('is the same for the same data, drawn anew or after another', () => {
    const plain = fc.jsonValue()
    fc.assert(
      fc.property(plain, plain, (one, other) => {
        const portrait = drawn(other)
        portrait.reset().value(one)
        expect([portrait.a, portrait.b, portrait.c, portrait.d].join(' ')).toBe(bitsOf(one))
      }),
    )
  })

  test('is another one for other data', () => {
    const seen = new Map<string, string>()
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value)
        // What looks like an instant or a name stands apart, and -0 is no number of JSON.
        if (/AtMs|atMs|nowMs|lastReplyMs|seenSinceMs|expiresMs|spec|~|\d+\.\d+\.\d+/.test(json)) return
        const bits = bitsOf(JSON.parse(json))
        expect(seen.get(bits) ?? json).toBe(json)
        seen.set(bits, json)
      }),
      { numRuns: 2_000 },
    )
    expect(seen.size).toBeGreaterThan(500)
  })

  test.each([
    [[], [[]]],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { b: 1 }],
    [
      { a: [1], b: [] },
      { a: [], b: [1] },
    ],
    ['1', 1],
    [null, 0],
    [false, true],
    [0.1, 0.2],
    [2 ** 31, -(2 ** 31)],
    [Number.POSITIVE_INFINITY, 0],
    [new Set(['a']), ['a']],
    [new Map([['a', 1]]), new Map([['a', 2]])],
  ])('tells %j from %j', (one, other) => {
    expect(bitsOf(one)).not.toBe(bitsOf(other))
  })

  test('keeps instants apart, of the run and of the database, and no durations', () => {
    const portrait = drawn({ sentAtMs: 70, expiresAtMs: epochMs + 90, ttlMs: 30_000, atMs: 5 })
    expect(portrait.instants).toEqual([70, 90, 5])
    expect(bitsOf({ sentAtMs: 70 })).toBe(bitsOf({ sentAtMs: 71 }))
    expect(bitsOf({ ttlMs: 70 })).not.toBe(bitsOf({ ttlMs: 71 }))
  })

  test('an endless instant is none', () => {
    expect(drawn({ dueAtMs: Number.POSITIVE_INFINITY }).instants).toEqual([])
    expect(bitsOf({ dueAtMs: Number.POSITIVE_INFINITY })).not.toBe(bitsOf({ dueAtMs: 7 }))
  })

  test('keeps names apart, and no ids that users give', () => {
    const portrait = drawn(['w1~2.1.1', 'w1~2.1.1.3', '1.1.4', 'j1'])
    expect(portrait.names).toEqual(['w1~2.1.1', 'w1~2.1.1.3', '1.1.4'])
    expect(bitsOf('w1~2.1.1')).toBe(bitsOf('w2~3.1.1'))
    expect(bitsOf('j1')).not.toBe(bitsOf('j2'))
  })

  test('takes in the instants and names of another, after its own', () => {
    const portrait = drawn({ atMs: 1, token: 'a~1.1.1' })
    portrait.portrait(drawn({ atMs: 2, token: 'b~1.1.1' }))
    expect(portrait.instants).toEqual([1, 2])
    expect(portrait.names).toEqual(['a~1.1.1', 'b~1.1.1'])
  })

  test('of what a producer stated of a job only the id counts', () => {
    expect(bitsOf({ spec: { id: 'j1', input: 1 } })).toBe(bitsOf({ spec: { id: 'j1', input: 2 } }))
    expect(bitsOf({ spec: { id: 'j1' } })).not.toBe(bitsOf({ spec: { id: 'j2' } }))
  })
})
