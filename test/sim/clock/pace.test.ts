import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Pace, elapsedMs, paced, trueMsOf } from '../../../src/sim/clock/pace.ts'

const rate = fc.integer({ min: 9_900, max: 10_100 }).map((tenths) => tenths / 10_000)
const changes = fc.array(fc.record({ afterMs: fc.nat(600_000), rate }), { maxLength: 8 })

test('a clock whose rate changes neither jumps nor goes back, and is off by 1 % at most', () => {
  fc.assert(
    fc.property(changes, (list) => {
      let pace: Pace | null = null
      let nowMs = 0
      for (const change of list) {
        nowMs += change.afterMs
        const before = elapsedMs(pace, nowMs)
        pace = paced(pace, change.rate, nowMs)
        expect(elapsedMs(pace, nowMs)).toBe(before)
        expect(elapsedMs(pace, nowMs + 1)).toBeGreaterThan(before)
      }
      expect(Math.abs(elapsedMs(pace, nowMs) - nowMs)).toBeLessThanOrEqual(nowMs * 0.01 + 1e-6)
    }),
  )
})

test('a timer of a machine is over when its clock says so, never before, within a true ms', () => {
  fc.assert(
    fc.property(rate, fc.nat(600_000), fc.nat(600_000), (to, atMs, delayMs) => {
      const pace = paced(null, to, atMs)
      const trueMs = trueMsOf(pace, delayMs)
      const counted = elapsedMs(pace, atMs + trueMs) - elapsedMs(pace, atMs)
      expect(counted).toBeGreaterThanOrEqual(delayMs - 1e-6)
      expect(counted).toBeLessThan(delayMs + 1.02)
    }),
  )
})

test('a clock that was always right counts true time', () => {
  expect([elapsedMs(null, 12_345), trueMsOf(null, 678)]).toEqual([12_345, 678])
})
