import type { Clock } from '../ports/clock.ts'
import { createWake } from './wake.ts'

/** The rest of the fetch loop between two turns, which ends early when something is freed. */
export interface Rest {
  /** The loop looks at what is free: whatever was freed before, it sees. */
  looked(): void
  /** The loop begins a turn: whatever woke it before, it sees in this one. */
  begun(): void
  /** Something is free that the loop waits for. */
  freed(): void
  /** Ends the rest, or the next one if there is none. */
  readonly wake: () => void
  /** Infinite: until something happens. Resolves to whether it was time that ended it. */
  take(waitMs: number): Promise<boolean>
  readonly resting: boolean
}

export function createRest(clock: Clock): Rest {
  const wake = createWake(clock)
  const state = {
    resting: false,
    /** Something was freed between the loop's last look and its rest: it looks again instead. */
    missed: false,
  }
  return {
    looked: () => {
      state.missed = false
    },
    begun: wake.forget,
    freed: () => {
      if (state.resting) wake.wake()
      else state.missed = true
    },
    wake: wake.wake,
    take: async (waitMs) => {
      if (state.missed) return (state.missed = false)
      state.resting = true
      const byTime = await wake.wait(Number.isFinite(waitMs) ? waitMs : null, 'poll')
      state.resting = false
      return byTime
    },
    get resting() {
      return state.resting
    },
  }
}
