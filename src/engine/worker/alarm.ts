import type { Clock, Timer } from '../ports/clock.ts'

/** One timer that is only ever moved forward: it rings once, at the earliest time it was asked for. */
export interface Alarm {
  by(atMs: number): void
  /** Rings now if its time has come, though its timer had no turn yet. */
  look(): void
  cancel(): void
}

export function createAlarm(clock: Clock, label: string, ring: () => void): Alarm {
  let dueMs = Number.POSITIVE_INFINITY
  let timer: Timer | null = null
  function go(): void {
    dueMs = Number.POSITIVE_INFINITY
    ring()
  }

  return {
    by: (atMs) => {
      if (atMs >= dueMs) return
      timer?.cancel()
      dueMs = atMs
      timer = clock.timer(Math.max(0, atMs - clock.monotonicMs()), label, go)
    },
    look: () => {
      if (clock.monotonicMs() < dueMs) return
      timer?.cancel()
      go()
    },
    cancel: () => {
      timer?.cancel()
      dueMs = Number.POSITIVE_INFINITY
    },
  }
}
