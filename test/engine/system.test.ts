import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { InvalidArgument } from '../../src/engine/errors.ts'
import { systemClock, systemRandom } from '../../src/engine/system.ts'

describe('a real timer', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const day = 86_400_000
  const lengths: [string, number][] = [
    ['0 ms', 0],
    ['a fraction', 0.5],
    ['24.8 d', 2_142_720_000],
    ['2^31 - 1 ms', 2 ** 31 - 1],
    ['2^31 ms', 2 ** 31],
    ['30 d', 30 * day],
    ['60 d', 60 * day],
  ]
  it.each(lengths)('of %s fires once, then and not before (E17)', async (_what, ms) => {
    const fired = vi.fn<() => void>()
    systemClock.timer(ms, 'x', fired)
    await vi.advanceTimersByTimeAsync(Math.max(0, Math.ceil(ms) - 1))
    expect(fired).toHaveBeenCalledTimes(ms === 0 ? 1 : 0)
    await vi.advanceTimersByTimeAsync(2)
    expect(fired).toHaveBeenCalledTimes(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('never fires once it is cancelled, at whichever part of its way', async () => {
    const fired = vi.fn<() => void>()
    for (const afterMs of [0, 20 * day, 40 * day]) {
      const timer = systemClock.timer(60 * day, 'x', fired)
      await vi.advanceTimersByTimeAsync(afterMs)
      timer.cancel()
      timer.cancel()
      expect(vi.getTimerCount()).toBe(0)
    }
    await vi.advanceTimersByTimeAsync(90 * day)
    expect(fired).not.toHaveBeenCalled()
  })

  it('of Infinity waits for ever, without turning in a circle (E17)', async () => {
    const fired = vi.fn<() => void>()
    const timer = systemClock.timer(Number.POSITIVE_INFINITY, 'x', fired)
    await vi.advanceTimersByTimeAsync(365 * day)
    expect(fired).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(1)
    timer.cancel()
  })

  it('of less than nothing fires at once, and of NaN is refused (E17)', async () => {
    const fired = vi.fn<() => void>()
    systemClock.timer(-1, 'x', fired)
    await vi.advanceTimersByTimeAsync(1)
    expect(fired).toHaveBeenCalledTimes(1)
    expect(() => systemClock.timer(Number.NaN, 'x', fired)).toThrow(InvalidArgument)
  })
})

describe('a real timer of 0 ms', () => {
  it('fires when all that is ready to go on has gone on, and without waiting for the next ms', async () => {
    const order: string[] = []
    const fired = new Promise<void>((resolve) =>
      systemClock.timer(0, 'x', () => {
        order.push('fired')
        resolve()
      }),
    )
    const cancelled = systemClock.timer(0, 'x', () => order.push('cancelled'))
    cancelled.cancel()
    process.nextTick(() => void Promise.resolve().then(() => order.push('gone on')))
    await fired
    expect(order).toEqual(['gone on', 'fired'])
  })
})

describe('the real clock and chance', () => {
  it('are what they say', () => {
    const before = systemClock.monotonicMs()
    expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(before)
    expect(Math.abs(systemClock.wallMs() - Date.now())).toBeLessThan(1_000)
    expect(systemRandom.id('job')).not.toBe(systemRandom.id('job'))
    const unit = systemRandom.unit('jitter')
    expect(unit >= 0 && unit < 1).toBe(true)
  })
})
