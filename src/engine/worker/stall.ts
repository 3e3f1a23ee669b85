import type { Held } from './held.ts'
import type { WorkerParts } from './parts.ts'

/**
 * Says once for each late heartbeat that the event loop stood still, and with which jobs in flight. The store
 * cannot tell such a process from a dead one, so whoever looks for the cause is told here.
 */
export interface StallNotice {
  /** Called whenever it shows how late the heartbeat is: by itself, or by an attempt that ends before it. */
  late(lateMs: number): void
  /** The next heartbeat is another one. */
  beaten(): void
  /** It was said of the heartbeat that is due. */
  readonly told: boolean
}

export function createStallNotice(
  { intervals, emit }: Pick<WorkerParts, 'intervals' | 'emit'>,
  held: Held,
): StallNotice {
  let told = false
  return {
    late: (lateMs) => {
      if (lateMs <= intervals.replyMs || told || held.attempts === 0) return
      told = true
      const attempts = [...held.claims.values()].flatMap((claim) => [...claim.attempts])
      const jobs = attempts.map(({ job }) => job.spec.id).sort()
      emit({ type: 'loop.stalled', forMs: Math.round(lateMs), jobs })
    },
    beaten: () => {
      told = false
    },
    get told() {
      return told
    },
  }
}
