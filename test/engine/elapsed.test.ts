import { describe, expect, it } from 'vitest'
import { createElapsed } from '../../src/engine/elapsed.ts'

/** A machine whose time since boot goes on while it sleeps, and which was up for an hour before we came. */
function machine() {
  const state = { awakeMs: 5_000, bootMs: 3_600_000, looks: 0 }
  const elapsed = createElapsed(
    () => state.awakeMs,
    () => {
      state.looks += 1
      return state.bootMs
    },
  )
  const pass = (awakeMs: number, asleepMs = 0): void => {
    state.awakeMs += awakeMs
    state.bootMs += awakeMs + asleepMs
  }
  return { state, elapsed, pass }
}

describe('elapsed time (E14)', () => {
  it('is the time awake as long as the machine does not sleep', () => {
    const { elapsed, pass } = machine()
    const from = elapsed()
    for (let n = 1; n <= 1_000; n++) {
      pass(7)
      expect(elapsed() - from).toBe(7 * n)
    }
  })

  it('goes on while the machine sleeps, however often, and is told within a tenth of a second', () => {
    const { elapsed, pass } = machine()
    const from = elapsed()
    pass(1_000, 3_600_000)
    expect(elapsed() - from).toBe(3_601_000)
    pass(50, 60_000)
    pass(50)
    expect(elapsed() - from).toBe(3_661_100)
  })

  it('takes a coarse time since boot for what it is, and never goes back', () => {
    const { state, elapsed, pass } = machine()
    const from = elapsed()
    let last = from
    for (const offMs of [900, -900, 2_000, -50_000, 0, 1_999]) {
      pass(200)
      state.bootMs += offMs
      const now = elapsed()
      expect(now).toBeGreaterThan(last)
      last = now
      state.bootMs -= offMs
    }
    expect(last - from).toBe(1_200)
  })

  it('asks for the time since boot ten times a second at most', () => {
    const { state, elapsed, pass } = machine()
    for (let n = 0; n < 1_000; n++) {
      elapsed()
      pass(1)
    }
    expect(state.looks).toBeLessThanOrEqual(10)
  })
})
