import { StoreUnavailable } from './errors.ts'
import type { Leaders } from './leases/leaders.ts'
import type { Retention, RetentionReport } from './retention/retention.ts'
import { declared } from './recovery/fleet.ts'
import { type Scheduler, type SchedulerReport, createScheduler } from './schedules/scheduler.ts'
import { type Sweeper, createSweeper } from './recovery/sweeper.ts'
import type { WorkerParts } from './worker/parts.ts'
import type { RestState } from './rest-state.ts'
import { type Wakeups, type WakeupsReport, createWakeups, noWakeups } from './worker/wakeups.ts'
import { createWake } from './worker/wake.ts'
import { type Worker, type WorkerReport, createWorker } from './worker/worker.ts'

/** One engine between a start and the stop that follows: one incarnation, with an identity of its own. */
export interface Running {
  readonly started: Promise<void>
  /** Once a stop was asked for: its end. */
  readonly stopping: Promise<void> | null
  wake(): void
  /** Schedules have changed. */
  look(): void
  stop(drainMs: number): Promise<void>
  report(): RunningReport
  atRest(): RestState
}

export interface RunningReport {
  readonly phase: 'starting' | 'running' | 'stopping' | 'stopped'
  readonly identity: string
  readonly worker: WorkerReport
  /** The keys of what this process leads now. */
  readonly leads: readonly string[]
  /** Hints of the store that something is due. */
  readonly wakeups: WakeupsReport
  /** Null: it fires no schedules. */
  readonly schedules: SchedulerReport | null
  readonly sweep: { turns: number; failures: number; sweeping: boolean }
  readonly retention: RetentionReport
}

const noWork: WorkerReport = {
  running: 0,
  slotsUsed: 0,
  fetch: { waitMs: 0, unknownClaim: false, draining: false },
  heartbeat: { claims: 0, failuresInARow: 0, uncertain: 0 },
  settle: { pending: 0, failuresInARow: 0 },
}

export function startRunning(
  shared: Omit<WorkerParts, 'worker'> & { readonly name: string; readonly firesSchedules: boolean },
  queues: Readonly<Record<string, { readonly concurrency: number }>>,
  leaders: Leaders,
  retention: Retention,
): Running {
  const { store, clock, random, intervals, emit, ask, measure } = shared
  // A name may come back with another process behind it; the identity that leases hang on must not.
  const worker = `${shared.name}~${shared.random.id('incarnation')}`
  const parts: WorkerParts = { ...shared, worker }
  const wake = createWake(clock)
  let phase: RunningReport['phase'] = 'starting'
  let work: Worker | null = null
  let sweeper: Sweeper | null = null
  let scheduler: Scheduler | null = null
  let wakeups: Wakeups = noWakeups
  let stopped: Promise<void> | null = null
  const started = start()

  async function start(): Promise<void> {
    const fleet = await declaring()
    if (!fleet || phase !== 'starting') return
    phase = 'running'
    emit({ type: 'engine.started', worker })
    work = createWorker(parts, queues)
    const { wake: onReturned, woke: onLate } = work
    const recovery = { store, clock, intervals, ask, measure, queues: Object.keys(queues) }
    sweeper = createSweeper({ ...recovery, lastReplyMs: fleet.nowMs, onReturned, onLate })
    if (shared.firesSchedules) {
      scheduler = createScheduler({ store, clock, random, ask, emit, onFired: onReturned })
    }
    leaders.start()
    retention.start()
    const names = Object.keys(queues)
    if (store.hints && names.length > 0) {
      wakeups = createWakeups({ clock, emit, wake: onReturned }, store.hints, names)
    }
  }

  /** Waits for the store; null if a stop came first. */
  async function declaring(): Promise<{ nowMs: number } | null> {
    while (phase === 'starting') {
      try {
        return await declared(parts)
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) {
          phase = 'stopped'
          throw error
        }
        await wake.wait(intervals.heartbeatRetryMs, 'start-retry')
      }
    }
    return null
  }

  async function stop(drainMs: number): Promise<void> {
    if (phase === 'stopped') return
    phase = 'stopping'
    wake.wake()
    await started.catch(() => {})
    const led = leaders.stop()
    const heard = wakeups.stop()
    const fired = scheduler?.stop()
    const settleMs = 2 * store.callMs + intervals.heartbeatRetryMs
    await work?.stop({ drainMs, settleMs })
    await sweeper?.stop()
    await retention.stop()
    await heard
    await fired
    await led
    phase = 'stopped'
    if (work) emit({ type: 'engine.stopped', worker })
  }

  function atRest(): RestState {
    if (phase === 'stopping' || leaders.posts > 0) return null
    if (!work || !sweeper) return {}
    const [working, sweeping, retaining] = [work.atRest(), sweeper.atRest(), retention.atRest()]
    const firing = scheduler ? scheduler.atRest() : {}
    return working && sweeping && retaining && firing && { working, sweeping, retaining, firing }
  }

  return {
    started,
    get stopping() {
      return stopped
    },
    wake: () => work?.wake(),
    look: () => scheduler?.wake(),
    stop: (drainMs) => (stopped ??= stop(drainMs)),
    atRest,
    report: () => ({
      phase,
      identity: worker,
      worker: work?.report() ?? noWork,
      leads: leaders.leads(),
      wakeups: wakeups.report(),
      schedules: scheduler?.report() ?? null,
      sweep: sweeper?.report() ?? { turns: 0, failures: 0, sweeping: false },
      retention: retention.report(),
    }),
  }
}
