import type { RestState } from '../rest-state.ts'
import { createWake } from '../worker/wake.ts'
import { type FiringParts, fireDue } from './firing.ts'

/**
 * The loop that fires schedules. Each engine has one, and none is better than another: who comes first moves a schedule
 * on, the others find it moved. It sleeps until the next slot by what the store said of the time, and looks anew when
 * something is put through its own engine.
 */
export interface Scheduler {
  readonly wake: () => void
  /** Resolves when no call is in flight. */
  stop(): Promise<void>
  report(): SchedulerReport
  atRest(): RestState
}

export interface SchedulerReport {
  readonly turns: number
  readonly failuresInARow: number
}

/** Where others may put what is due earlier, and where there is none at all. */
const waitMsMax = 30_000
const idleMs = 60_000
/** After the slot: so that a timer which is a little early is not, and not all engines come at once. */
const lagMs = 20
const spreadMs = 200
const retryMs = 1_000

export function createScheduler(parts: FiringParts): Scheduler {
  const { clock, random } = parts
  const wake = createWake(clock)
  const state = { turns: 0, failuresInARow: 0, resting: false, stopping: false }
  const done = run()

  async function run(): Promise<void> {
    while (!state.stopping) {
      wake.forget()
      state.turns += 1
      const waitMs = await turn()
      if (state.stopping) return
      state.resting = true
      await wake.wait(waitMs, 'schedule')
      state.resting = false
    }
  }

  /** Answers how long there is nothing to do. */
  async function turn(): Promise<number> {
    try {
      const { nextInMs, again, failed } = await fireDue(parts)
      if (!failed) state.failuresInARow = 0
      const retryInMs = failed ? failedOnce() : idleMs
      if (!again && nextInMs === null) return retryInMs
      const lag = lagMs + Math.floor(random.unit('schedule') * spreadMs)
      const waitMs = again ? lag : Math.min(waitMsMax, Math.max(0, nextInMs ?? 0) + lag)
      return Math.min(waitMs, retryInMs)
    } catch {
      return failedOnce()
    }
  }

  /** Answers how long to wait then. */
  function failedOnce(): number {
    state.failuresInARow += 1
    return Math.min(waitMsMax, retryMs * 2 ** (state.failuresInARow - 1))
  }

  return {
    wake: wake.wake,
    stop: () => {
      state.stopping = true
      wake.wake()
      return done
    },
    report: () => ({ turns: state.turns, failuresInARow: state.failuresInARow }),
    atRest: () => (state.resting ? { failuresInARow: state.failuresInARow } : null),
  }
}
