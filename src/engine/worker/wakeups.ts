import type { EngineEvent } from '../history.ts'
import type { Clock } from '../ports/clock.ts'
import type { HintSource } from '../ports/store.ts'

/** Listens for hints of the store, and shows whether they would come. A dead way costs latency, and nothing else. */
export interface Wakeups {
  stop(): Promise<void>
  report(): WakeupsReport
}

export interface WakeupsReport {
  /** `off`: the store gives no hints, or this engine has no queues; it polls. `down`: it would, and does not now. */
  readonly state: 'off' | 'up' | 'down'
  /** Since when; null for `off`. */
  readonly forMs: number | null
  /** Why they are down. */
  readonly why: string | null
}

export const noWakeups: Wakeups = {
  stop: async () => {},
  report: () => ({ state: 'off', forMs: null, why: null }),
}

export function createWakeups(
  parts: { readonly clock: Clock; readonly emit: (event: EngineEvent) => void; readonly wake: () => void },
  source: HintSource,
  queues: readonly string[],
): Wakeups {
  const { clock, emit, wake } = parts
  const own = new Set(queues)
  const state = { up: false, sinceMs: clock.monotonicMs(), why: 'not connected yet' as string | null }
  const listening = source.listen({
    onHint: (hinted) => {
      if (hinted === null || hinted.some((queue) => own.has(queue))) wake()
    },
    onState: (up, why) => {
      state.why = why
      if (state.up === up) return
      state.up = up
      state.sinceMs = clock.monotonicMs()
      emit({ type: 'wakeups.changed', up, why })
    },
  })
  return {
    stop: listening.close,
    report: () => ({
      state: state.up ? 'up' : 'down',
      forMs: clock.monotonicMs() - state.sinceMs,
      why: state.why,
    }),
  }
}
