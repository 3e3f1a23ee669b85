import type { Clock, Timer } from '../ports/clock.ts'

/** One timer that is only ever moved forward: it rings once, at the earliest time it was asked for. */
export interface Alarm {
  by(atMs: number): void
  cancel(): void
}

export function createAlarm(clock: Clock, label: string, ring: () => void): Alarm {
  let dueMs = Number.POSITIVE_INFINITY
  let timer: Timer | null = null
  return {
    by: (atMs) => {
      if (atMs >= dueMs) return
      timer?.cancel()
      dueMs = atMs
      timer = clock.timer(Math.max(0, atMs - clock.monotonicMs()), label, () => {
        dueMs = Number.POSITIVE_INFINITY
        ring()
      })
    },
    cancel: () => timer?.cancel(),
  }
}
