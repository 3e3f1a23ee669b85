import { describe, expect, it } from 'vitest'
import { InvalidArgument } from '../../src/engine/errors.ts'
import { type OneShots, longTimer, oneShotMsMax } from '../../src/engine/long-timer.ts'
import { virtualClock } from '../support/virtual-clock.ts'

const day = 86_400_000

/** A machine whose timers are like Node's: one that is too long fires after 1 ms. */
function machine() {
  const clock = virtualClock()
  const armed: number[] = []
  const shots: OneShots = {
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs, label, fire) => {
      armed.push(delayMs)
      return clock.timer(delayMs > oneShotMsMax ? 1 : delayMs, label, fire)
    },
  }
  return { clock, shots, armed }
}

describe('a timer over timers that have a longest (E17)', () => {
  it.each([
    ['24.8 d', 24.8 * day, 1],
    ['2^31 - 1 ms', 2 ** 31 - 1, 1],
    ['2^31 ms', 2 ** 31, 2],
    ['30 d', 30 * day, 2],
    ['60 d', 60 * day, 3],
  ])('of %s fires once and on time, armed no oftener than it must be', async (_what, ms, times) => {
    const { clock, shots, armed } = machine()
    const firedAtMs: number[] = []
    longTimer(shots, ms, 'long', () => firedAtMs.push(clock.nowMs))
    await clock.advance(90 * day)
    expect(firedAtMs).toEqual([ms])
    expect(armed).toHaveLength(times)
    expect(Math.max(...armed)).toBeLessThanOrEqual(oneShotMsMax)
    expect(clock.armed).toEqual([])
  })

  it('that is cancelled on its way is gone', async () => {
    const { clock, shots } = machine()
    const timer = longTimer(shots, 60 * day, 'long', () => expect.unreachable())
    await clock.advance(30 * day)
    timer.cancel()
    expect(clock.armed).toEqual([])
  })

  it('is refused where its delay is no number', () => {
    expect(() => longTimer(machine().shots, Number.NaN, 'long', () => {})).toThrow(InvalidArgument)
  })
})
