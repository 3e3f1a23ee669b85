import { InvalidArgument, StoreUnavailable } from './errors.ts'
import type { EngineEvent } from './history.ts'
import { textOf } from './jobs/text.ts'
import type { Measure } from './metrics.ts'
import type { Clock } from './ports/clock.ts'

/** When the store last answered this engine, and what it last failed with. */
export interface StoreHealth {
  readonly ask: <T>(call: string, answer: Promise<T>) => Promise<T>
  report(): {
    reachable: boolean
    lastReplyAgoMs: number | null
    failuresInARow: number
    lastError: string | null
  }
}

export function createStoreHealth(
  clock: Clock,
  emit: (event: EngineEvent) => void,
  measure: Measure,
): StoreHealth {
  let repliedAtMs: number | null = null
  let failuresInARow = 0
  let lastError: string | null = null
  function answered(): void {
    repliedAtMs = clock.monotonicMs()
    failuresInARow = 0
  }

  return {
    ask: async (call, answer) => {
      const askedAtMs = measure ? clock.monotonicMs() : 0
      const ended = (failed: 'no' | 'maybe' | 'answered' | null): void =>
        measure?.({ name: 'store.call', call, durationMs: clock.monotonicMs() - askedAtMs, failed })
      try {
        const reply = await answer
        answered()
        ended(null)
        return reply
      } catch (error) {
        // A store that will not store one thing is there all the same. One that refuses its user, has no tables or
        // was closed is of no more use than one that is silent.
        if (error instanceof InvalidArgument) answered()
        else failuresInARow += 1
        lastError = textOf(error)
        const sent = error instanceof StoreUnavailable ? error.sent : 'answered'
        ended(sent)
        emit({ type: 'store.failed', call, sent })
        throw error
      }
    },
    report: () => ({
      reachable: failuresInARow === 0,
      lastReplyAgoMs: repliedAtMs === null ? null : clock.monotonicMs() - repliedAtMs,
      failuresInARow,
      lastError,
    }),
  }
}
