import { createAttemptLogs } from '../logs/attempt-logs.ts'
import { sleep } from '../ports/clock.ts'
import type { RestState } from '../rest-state.ts'
import type { Attempt } from './attempt.ts'
import { createCommits } from './commit.ts'
import { createFetcher } from './fetch.ts'
import { createLeases } from './leases.ts'
import { type AttemptParts, RunningAttempt } from './running-attempt.ts'
import type { Settled } from '../ports/store.ts'
import type { WorkerParts } from './parts.ts'
import { createSettler } from './settle.ts'
import { createSlots } from './slots.ts'

/** The loops that claim, run and settle jobs, from one start to one stop. */
export interface Worker {
  readonly wake: () => void
  /** Called when this process had stood still. */
  readonly woke: () => void
  /**
   * Claims nothing more, lets running attempts end for `drainMs`, asks the rest to end, and gives back what
   * has not ended `abandonMs` later. Resolves when every settlement is confirmed, or `settleMs` after that,
   * with no store call in flight.
   */
  stop(params: { readonly drainMs: number; readonly settleMs: number }): Promise<void>
  report(): WorkerReport
  atRest(): RestState
}

export interface WorkerReport {
  readonly running: number
  readonly slotsUsed: number
  readonly fetch: { waitMs: number; unknownClaim: boolean; draining: boolean }
  readonly heartbeat: { claims: number; failuresInARow: number; uncertain: number }
  readonly settle: { pending: number; failuresInARow: number }
}

export function createWorker(
  parts: WorkerParts,
  queues: Readonly<Record<string, { readonly concurrency: number }>>,
): Worker {
  const { clock, handlers, emit, intervals, store } = parts
  const slots = createSlots(queues)
  const leases = createLeases(parts, () => fetcher.leaseFreed())
  const running = new Set<Attempt>()
  /** Claimed in this turn. */
  let starting: RunningAttempt[] = []
  let idle = (): void => {}
  let stopping = false

  function confirmed(attempt: Attempt, settled: Settled): void {
    emit({ type: 'attempt.confirmed', job: attempt.job.spec.id, epoch: attempt.job.epoch, settled })
    leases.drop(attempt.claim, attempt)
  }

  const settler = createSettler(parts, confirmed)
  const commits = createCommits(parts)
  const logs = createAttemptLogs(parts)
  const attemptParts: AttemptParts = {
    ...parts,
    leases,
    settle: settler.add,
    commits,
    logs,
    settled: (attempt) => confirmed(attempt, 'applied'),
    returned,
  }
  const fetcher = createFetcher({
    ...parts,
    leases,
    slots,
    start: (claim, job) => {
      const definition = handlers.get(job.spec.kind)
      if (!definition) return
      parts.keeps(job.spec.keepMs)
      const attempt = new RunningAttempt(attemptParts, definition, claim, job)
      leases.add(claim, attempt)
      if (stopping) return attempt.release()
      slots.take(job.spec.queue)
      running.add(attempt)
      if (starting.push(attempt) === 1) clock.timer(0, 'start', startAll)
    },
  })

  /**
   * When all that came with them is taken note of, and the next claim is on its way: a handler may keep the loop to
   * itself for long, and the store need not wait for that.
   */
  function startAll(): void {
    const attempts = starting
    starting = []
    // This process may have stood still meanwhile.
    leases.woke()
    for (const attempt of attempts) attempt.run()
  }

  function returned(attempt: Attempt): void {
    running.delete(attempt)
    slots.give(attempt.job.spec.queue)
    fetcher.slotFreed(attempt.job.spec.queue)
    if (running.size === 0) idle()
  }

  /** Waits for the work, but not longer than `boundMs`. */
  async function within(boundMs: number, work: Promise<unknown>): Promise<void> {
    const cancel = new AbortController()
    const bound = sleep(clock, boundMs, 'stop', cancel.signal).catch(() => {})
    await Promise.race([work, bound])
    cancel.abort()
  }

  function allEnded(): Promise<void> {
    return running.size === 0 ? Promise.resolve() : new Promise((resolve) => (idle = resolve))
  }

  function atRest(): RestState {
    if (stopping || starting.length > 0 || !settler.atRest || !commits.atRest || !logs.atRest) return null
    // Of two attempts nothing says which timer is whose, and who was told what; one without a lease is over, and its
    // handler goes on.
    if (running.size > 1 || running.size !== leases.attempts) return null
    const [fetching, leasing] = [fetcher.atRest(), leases.atRest()]
    return fetching && leasing && { fetching, leasing }
  }

  return {
    wake: fetcher.wake,
    woke: leases.woke,
    stop: async ({ drainMs, settleMs }) => {
      stopping = true
      const fetched = fetcher.stop()
      await within(drainMs, allEnded())
      for (const attempt of running) attempt.interrupt()
      if (running.size > 0) await within(intervals.abandonMs, allEnded())
      for (const attempt of running) attempt.release()
      await within(
        // A log is flushed before its attempt is settled.
        settleMs + (logs.flushing ? store.callMs : 0),
        fetched
          .then(() => commits.idle())
          .then(() => logs.idle())
          .then(() => settler.idle()),
      )
      fetcher.abandon()
      // What is still in flight is over before its store may be closed.
      await within(
        store.callMs,
        Promise.all([fetched, commits.stop(), logs.stop(), settler.stop(), leases.stop()]),
      )
    },
    report: () => ({
      running: running.size,
      slotsUsed: slots.used,
      fetch: fetcher.report(),
      heartbeat: leases.report(),
      settle: settler.report(),
    }),
    atRest,
  }
}
