import { describe, expect, it } from 'vitest'
import { createAlarm } from '../../../src/engine/worker/alarm.ts'
import { createWake } from '../../../src/engine/worker/wake.ts'
import { virtualClock } from '../../support/virtual-clock.ts'

describe('a wait', () => {
  it('ends after its time', async () => {
    const clock = virtualClock()
    let over = false
    void createWake(clock)
      .wait(100, 'x')
      .then(() => (over = true))
    await clock.advance(99)
    expect(over).toBe(false)
    await clock.advance(1)
    expect(over).toBe(true)
  })

  it('ends at once when woken, and leaves no timer', async () => {
    const clock = virtualClock()
    const wake = createWake(clock)
    const waiting = wake.wait(100, 'x')
    wake.wake()
    await waiting
    expect(clock.armed).toEqual([])
  })

  it('does not begin when the wake came first; one wake ends one wait', async () => {
    const clock = virtualClock()
    const wake = createWake(clock)
    wake.wake()
    wake.wake()
    await wake.wait(null, 'x')
    void wake.wait(50, 'x')
    expect(clock.armed).toEqual(['x'])
  })
})

describe('an alarm', () => {
  it('rings once, at the earliest time it was asked for', async () => {
    const clock = virtualClock()
    const rings: number[] = []
    const alarm = createAlarm(clock, 'x', () => void rings.push(clock.nowMs))
    const from = clock.monotonicMs()
    alarm.by(from + 50)
    alarm.by(from + 20)
    alarm.by(from + 90)
    alarm.by(Number.POSITIVE_INFINITY)
    await clock.advance(200)
    expect(rings).toEqual([20])
    alarm.by(from)
    await clock.advance(1)
    expect(rings).toEqual([20, 200])
    alarm.by(from + 500)
    alarm.cancel()
    expect(clock.armed).toEqual([])
  })
})
