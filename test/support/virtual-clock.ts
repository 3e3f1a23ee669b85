import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../src/engine/ports/clock.ts'

/** Time that stands still until a test moves it. Nothing here sleeps. */
export interface VirtualClock extends Clock {
  /** Elapsed since the clock was made. */
  readonly nowMs: number
  /** Moves on, firing timers in order of time, and lets everything they set off settle between two of them. */
  advance(ms: number): Promise<void>
  /** Moves on as a process does that stood still: nothing fires until the end, then all that came due. */
  freeze(ms: number): Promise<void>
  /** The machine sleeps: the time goes on, and timers are as far from their turn as before. */
  sleep(ms: number): void
  /** Lets promises settle, at the same time, and what was put off to this very time. */
  settle(): Promise<void>
  /** Labels of the timers that wait, in order of time. */
  readonly armed: readonly string[]
}

interface Armed {
  readonly dueMs: number
  readonly ordinal: number
  readonly label: string
  readonly fire: () => void
}

/** The wall time at which every clock begins: 2026-01-01T00:00:00Z. */
const wallStartMs = 1_767_225_600_000

export function virtualClock(options: { readonly wallOffsetMs?: number } = {}): VirtualClock {
  const { wallOffsetMs = 0 } = options
  const timers = new Set<Armed>()
  let nowMs = 0
  let sleptMs = 0
  let ordinal = 0

  const inOrder = (): Armed[] => [...timers].sort((a, b) => a.dueMs - b.dueMs || a.ordinal - b.ordinal)

  async function fireUntil(endMs: number): Promise<void> {
    await turn()
    for (let next = inOrder()[0]; next && next.dueMs <= endMs; next = inOrder()[0]) {
      timers.delete(next)
      nowMs = Math.max(nowMs, next.dueMs)
      next.fire()
      await turn()
    }
  }

  return {
    get nowMs() {
      return nowMs
    },
    // An origin of its own, as real monotonic clocks have.
    monotonicMs: () => nowMs + sleptMs + 7_777,
    wallMs: () => wallStartMs + wallOffsetMs + nowMs + sleptMs,
    timer: (delayMs, label, fire) => {
      if (Number.isNaN(delayMs) || delayMs < 0) throw new RangeError(`timer ${label} of ${delayMs} ms`)
      const armed: Armed = { dueMs: nowMs + Math.ceil(delayMs), ordinal: ++ordinal, label, fire }
      timers.add(armed)
      return { cancel: () => void timers.delete(armed) }
    },
    advance: async (ms) => {
      const endMs = nowMs + ms
      await fireUntil(endMs)
      nowMs = endMs
    },
    freeze: async (ms) => {
      await turn()
      nowMs += ms
      await fireUntil(nowMs)
    },
    sleep: (ms) => {
      sleptMs += ms
    },
    settle: () => fireUntil(nowMs),
    get armed() {
      return inOrder().map(({ label }) => label)
    },
  }
}
