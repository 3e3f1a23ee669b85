import type { Timer } from '../ports/clock.ts'
import { sweepLimitMax } from '../ports/retention.ts'
import type { RestState } from '../rest-state.ts'
import type { WorkerParts } from '../worker/parts.ts'
import type { RetentionSettings } from './options.ts'

/**
 * Removes what has ended and was kept for long enough: every engine does, and none leads. It goes through the jobs
 * from the first inserted to those that are too young, batch by batch with a pause after each, on a timer of its own:
 * however much there is to remove, recovery does not wait for it.
 */
export interface Retention {
  start(): void
  /** Resolves when no call is in flight. */
  stop(): Promise<void>
  /** One batch, where a pass is due and no engine of this process goes through them anyway. */
  tick(): Promise<void>
  /** There are jobs that are kept no longer than this. */
  knows(keepMs: number): void
  report(): RetentionReport
  atRest(): RestState
}

export interface RetentionReport {
  /** Whole passes since the engine was made. */
  readonly passes: number
  readonly removed: number
  /** Calls that failed; the pass went on later. */
  readonly failures: number
}

export interface RetentionParts extends Pick<WorkerParts, 'store' | 'clock' | 'random' | 'ask' | 'measure'> {
  /** Null: nothing is ever removed. */
  readonly settings: RetentionSettings | null
  /** The shortest of those that it knows from the start. */
  readonly keepMs: number
}

/** Others get at the store meanwhile. */
const pauseMs = 100
/** After a call that failed. */
const againMs = 60_000
/** A named lease is of no use once it has lapsed; nobody misses it after a day. */
const lapsedMs = 24 * 3_600_000

export function createRetention({
  store,
  clock,
  random,
  ask,
  measure,
  settings,
  keepMs,
}: RetentionParts): Retention {
  const state = { after: null as string | null, dueAtMs: 0, olderMs: keepMs }
  const count = { passes: 0, removed: 0, failures: 0 }
  let timer: Timer | null = null
  let running = false
  let inFlight: Promise<void> | null = null

  /** Answers after how long to go on. */
  async function batch({ everyMs, deadLetterMs }: RetentionSettings): Promise<number> {
    const { after, olderMs } = state
    const params = { after, limit: sweepLimitMax, deadLetterMs, olderMs }
    const reply = await ask('retention.sweep', store.retention.sweep(params))
    removed(reply.removed.length)
    state.after = reply.after
    if (reply.after !== null) return pauseMs
    count.passes += 1
    const leases = { limit: sweepLimitMax, lapsedMs }
    await ask('retention.sweepLeases', store.retention.sweepLeases(leases))
    return everyMs
  }

  function removed(jobs: number): void {
    if (jobs === 0) return
    count.removed += jobs
    measure?.({ name: 'jobs.removed', jobs })
  }

  async function part(of: RetentionSettings): Promise<void> {
    let waitMs = Math.min(againMs, of.everyMs)
    try {
      waitMs = await batch(of)
    } catch (error) {
      count.failures += 1
      throw error
    } finally {
      arm(waitMs)
    }
  }

  function arm(waitMs: number): void {
    state.dueAtMs = clock.monotonicMs() + waitMs
    if (running) timer = clock.timer(waitMs, 'retention', turn)
  }

  function turn(): void {
    if (settings === null) return
    const done = part(settings)
      .catch(() => {})
      .finally(() => {
        if (inFlight === done) inFlight = null
      })
    inFlight = done
  }

  return {
    start: () => {
      if (settings === null || running) return
      running = true
      // A fleet that starts at once does not go through the same jobs at once.
      arm(Math.floor(random.unit('retention') * settings.everyMs))
    },
    stop: async () => {
      running = false
      timer?.cancel()
      await inFlight
    },
    tick: async () => {
      if (settings === null || running) return
      // Ticks are pause enough in the midst of a pass.
      if (state.after !== null || clock.monotonicMs() >= state.dueAtMs) await part(settings)
    },
    knows: (ms) => {
      if (ms < state.olderMs) state.olderMs = ms
    },
    report: () => ({ ...count }),
    atRest: () => (inFlight !== null ? null : settings === null ? {} : { ...state }),
  }
}
