import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { InvalidConfig } from '../../src/engine/errors.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { defaultIntervals, heartbeatMsFor, intervalsOf, requireMargin } from '../../src/engine/settings.ts'
import { bench } from '../support/bench.ts'

describe('the margin between a lease and what must happen within it (0.3)', () => {
  it('admits the stock figures: 10 + 10 + 5 + 2 + 2 < 30', () => {
    expect(() => requireMargin('x', defaultIntervals, 5_000, 30_000)).not.toThrow()
  })

  it('refuses equality, since expired is >=, and admits one millisecond more', () => {
    expect(() => requireMargin('x', defaultIntervals, 5_000, 29_000)).not.toThrow()
    // From 30 s down the heartbeat is a third: ttl / 3 + 19,000 = ttl at 28,500.
    expect(() => requireMargin('x', defaultIntervals, 5_000, 28_500)).toThrow(InvalidConfig)
    expect(() => requireMargin('x', defaultIntervals, 5_000, 28_501)).not.toThrow()
    expect(() => requireMargin('x', defaultIntervals, 6_000, 30_000)).toThrow(InvalidConfig)
    expect(() => requireMargin('x', defaultIntervals, 5_999, 30_000)).not.toThrow()
  })

  it('names every number in the refusal', () => {
    let message = ''
    try {
      requireMargin('job mail', defaultIntervals, 6_000, 30_000)
    } catch (error) {
      message = String(error)
    }
    for (const part of [
      'job mail',
      'leaseTtlMs 30000',
      'over 30000',
      'heartbeatMs 10000',
      'sweepMs 5000',
      'storeCallMs 6000',
      'heartbeatRetryMs 2000',
      'replyMs 1000',
    ])
      expect(message).toContain(part)
  })

  it('is required of a definition when the engine is made', () => {
    const { database } = bench()
    const jobs = [defineJob({ name: 'quick', leaseTtlMs: 5_000 })]
    expect(() => createEngine({ store: database.raw, jobs })).toThrow(/job quick: leaseTtlMs 5000/)
  })

  it('beats at a third of the shortest lease, at most every heartbeatMs', () => {
    expect(heartbeatMsFor(defaultIntervals, 30_000)).toBe(10_000)
    expect(heartbeatMsFor(defaultIntervals, 21_600_000)).toBe(10_000)
    expect(heartbeatMsFor(defaultIntervals, 9_000)).toBe(3_000)
  })
})

describe('intervals', () => {
  const bad = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]
  it.each(bad)('of %d ms are refused', (ms) => {
    expect(() => intervalsOf({ sweepMs: ms })).toThrow(/sweepMs must be a whole number/)
  })

  it('that are not known are refused by name', () => {
    expect(() => intervalsOf({ heartBeatMs: 5 } as never)).toThrow(/heartBeatMs/)
  })

  it('that are undefined are the defaults', () => {
    expect(intervalsOf({ sweepMs: undefined } as never)).toEqual(defaultIntervals)
  })
})

describe('an engine', () => {
  const { database } = bench()
  const bad: [string, object][] = [
    ['an empty engine name', { name: '' }],
    ['an engine name with NUL (X01)', { name: 'a\0' }],
    ['a queue with a lone surrogate (X01)', { queues: { '\udc00': { concurrency: 1 } } }],
    ['a negative concurrency', { queues: { default: { concurrency: -1 } } }],
    ['a concurrency of Infinity', { queues: { default: { concurrency: Number.POSITIVE_INFINITY } } }],
  ]
  it.each(bad)('is refused with InvalidConfig for %s', (_what, options) => {
    expect(() => createEngine({ store: database.raw, ...options })).toThrow(InvalidConfig)
  })
})
