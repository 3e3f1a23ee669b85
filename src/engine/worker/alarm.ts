import type { Clock, Timer } from '../ports/clock.ts'

/**
 * One timer that is only ever moved forward: it rings once, at the earliest time it was asked for, and says how
 * late that is.
 */
export interface Alarm {
  by(atMs: number): void
  /** Rings now if its time has come, though its timer had no turn yet. */
  look(): void
  cancel(): void
  /** When it rings; infinite: nobody asked for it. */
  readonly dueMs: number
  /** How long ago it should have rung; 0 while that is not due. */
  readonly lateMs: number
}

export function createAlarm(clock: Clock, label: string, ring: (lateMs: number) => void): Alarm {
  let dueMs = Number.POSITIVE_INFINITY
  let timer: Timer | null = null
  const lateMs = (): number => Math.max(0, clock.monotonicMs() - dueMs)
  function go(): void {
    const late = lateMs()
    dueMs = Number.POSITIVE_INFINITY
    ring(late)
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
    get dueMs() {
      return dueMs
    },
    get lateMs() {
      return lateMs()
    },
    cancel: () => {
      timer?.cancel()
      dueMs = Number.POSITIVE_INFINITY
    },
  }
}
