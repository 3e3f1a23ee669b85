import type { Timer } from '../ports/clock.ts'
import type { WorkerParts } from '../worker/parts.ts'

/**
 * The reconciler. On one fixed timer it moves the outage watch, in a statement of its own, and only then
 * takes back what the watch allows: leases that lapsed, attempts past their timeout, claim rows no job
 * bears any more. A turn that fails is simply over; the next one does its work.
 */
export interface Sweeper {
  /** Resolves when no call is in flight. */
  stop(): Promise<void>
  report(): { turns: number; failures: number; sweeping: boolean }
}

const batch = 100
/** Timeouts are a backstop and spent claim rows only take space: every sixth turn is soon enough. */
const slowTurns = 6
const voidMs = 24 * 3_600_000

export interface SweeperParts extends Pick<WorkerParts, 'store' | 'clock' | 'intervals' | 'ask'> {
  /** The database time of the last reply this process had, and when it came. */
  readonly lastReplyMs: number
  /** Called when jobs have come back to the queue. */
  readonly onReturned: () => void
}

export function createSweeper(parts: SweeperParts): Sweeper {
  const { store, clock, intervals, ask } = parts
  const state = { turns: 0, failures: 0, sweeping: false, stopped: false }
  const inFlight = new Set<Promise<void>>()
  let lastReply = { nowMs: parts.lastReplyMs, atMs: clock.monotonicMs() }
  let timer: Timer = clock.timer(0, 'sweep', turn)

  function turn(): void {
    timer = clock.timer(intervals.sweepMs, 'sweep', turn)
    state.turns += 1
    const done = reconcile(state.turns)
      .catch(() => void (state.failures += 1))
      .finally(() => inFlight.delete(done))
    inFlight.add(done)
  }

  /** Moves the watch, whatever an earlier sweep still does; then sweeps, unless one still does. */
  async function reconcile(turns: number): Promise<void> {
    await moveWatch()
    if (state.sweeping || state.stopped) return
    state.sweeping = true
    try {
      await sweep(turns)
    } finally {
      state.sweeping = false
    }
  }

  async function moveWatch(): Promise<void> {
    const sinceReplyMs = clock.monotonicMs() - lastReply.atMs
    const params = { lastReplyMs: lastReply.nowMs, sinceReplyMs, maxAgeMs: store.callMs }
    const { nowMs } = await ask('watch.move', store.watch.move(params))
    lastReply = { nowMs, atMs: clock.monotonicMs() }
  }

  async function sweep(turns: number): Promise<void> {
    await whileMore(async () => {
      const { jobs, full } = await ask('jobs.reclaim', store.jobs.reclaim({ limit: batch }))
      if (jobs.length > 0) parts.onReturned()
      return full
    })
    if (turns % slowTurns !== 0) return
    await whileMore(async () => {
      const { jobs } = await ask('jobs.expireTimeouts', store.jobs.expireTimeouts({ limit: batch }))
      if (jobs.length > 0) parts.onReturned()
      return jobs.length === batch
    })
    await whileMore(async () => {
      const { removed } = await ask('claims.collect', store.claims.collect({ limit: batch, voidMs }))
      return removed === batch
    })
  }

  async function whileMore(takeBatch: () => Promise<boolean>): Promise<void> {
    let more = true
    while (more && !state.stopped) more = await takeBatch()
  }

  return {
    stop: async () => {
      state.stopped = true
      timer.cancel()
      await Promise.all(inFlight)
    },
    report: () => ({ turns: state.turns, failures: state.failures, sweeping: state.sweeping }),
  }
}
