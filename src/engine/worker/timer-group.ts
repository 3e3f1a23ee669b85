import type { Clock, Timer } from '../ports/clock.ts'

/**
 * A clock whose timers end together: what a handler still waits for when it has returned, or would wait for after
 * that, keeps nothing alive.
 */
export interface TimerGroup {
  readonly clock: Clock
  cancel(): void
}

export function createTimerGroup(clock: Clock): TimerGroup {
  const open = new Set<Timer>()
  let ended = false
  return {
    clock: {
      monotonicMs: () => clock.monotonicMs(),
      wallMs: () => clock.wallMs(),
      timer: (delayMs, label, fire) => {
        if (ended) return { cancel: () => {} }
        const timer = clock.timer(delayMs, label, () => {
          open.delete(timer)
          fire()
        })
        open.add(timer)
        return {
          cancel: () => {
            open.delete(timer)
            timer.cancel()
          },
        }
      },
    },
    cancel: () => {
      ended = true
      for (const timer of open) timer.cancel()
      open.clear()
    },
  }
}
