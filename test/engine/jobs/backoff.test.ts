import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Backoff, backoffAt, backoffTable } from '../../../src/engine/jobs/backoff.ts'

describe('the delay before a return', () => {
  const returns = [31, 32, 53, 54, 64, 1_025]
  const strategies: [string, Backoff, number][] = [
    ['exponential', { kind: 'exponential', firstMs: 1_000, maxMs: 60_000 }, 60_000],
    ['exponential by 1e300', { kind: 'exponential', firstMs: 1, maxMs: 3_600_000, factor: 1e300 }, 3_600_000],
    ['linear', { kind: 'linear', firstMs: 1_000, maxMs: 86_400_000 }, 86_400_000],
    ['constant', { kind: 'constant', delayMs: 5_000 }, 5_000],
  ]
  it.each(strategies)('stays finite, whole and capped after many: %s (E16)', (_name, backoff, capMs) => {
    const table = backoffTable(backoff, 2_000)
    const delays = returns.map((n) => backoffAt(table, n))
    for (const delayMs of delays) expect(Number.isSafeInteger(delayMs)).toBe(true)
    expect(delays.toSorted((a, b) => a - b)).toEqual(delays)
    expect(Math.max(...delays)).toBeLessThanOrEqual(capMs)
  })

  it('grows as the strategy says', () => {
    const exponential = backoffTable({ kind: 'exponential', firstMs: 100, maxMs: 1_000, factor: 3 }, 5)
    expect(exponential).toEqual([100, 300, 900, 1_000, 1_000])
    expect(backoffTable({ kind: 'linear', firstMs: 100, maxMs: 250 }, 4)).toEqual([100, 200, 250, 250])
    expect(backoffTable({ kind: 'constant', delayMs: 7 }, 3)).toEqual([7, 7, 7])
  })

  it('never falls and never leaves [0, cap], whatever the figures (E16)', () => {
    const kinds = fc.constantFrom('linear' as const, 'exponential' as const)
    const ms = fc.integer({ min: 0, max: 10_000_000 })
    const factor = fc.double({ min: 1, max: 1e9, noNaN: true })
    fc.assert(
      fc.property(
        kinds,
        ms,
        ms,
        factor,
        fc.integer({ min: 1, max: 1_100 }),
        (kind, firstMs, maxMs, by, n) => {
          const table = backoffTable({ kind, firstMs, maxMs, factor: by }, 1_100)
          const [before, after] = [backoffAt(table, n), backoffAt(table, n + 1)]
          return Number.isSafeInteger(before) && before >= 0 && before <= after && after <= maxMs
        },
      ),
    )
  })

  it('is none when a job bears no table', () => {
    expect(backoffAt([], 1)).toBe(0)
  })
})
