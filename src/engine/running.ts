import { InvalidConfig, StoreUnavailable } from './errors.ts'
import { type Sweeper, createSweeper } from './recovery/sweeper.ts'
import type { WorkerParts } from './worker/parts.ts'
import { createWake } from './worker/wake.ts'
import { type Worker, type WorkerReport, createWorker } from './worker/worker.ts'

/** One engine between a start and the stop that follows: one incarnation, with an identity of its own. */
export interface Running {
  readonly started: Promise<void>
  wake(): void
  stop(drainMs: number): Promise<void>
  report(): RunningReport
}

export interface RunningReport {
  readonly phase: 'starting' | 'running' | 'stopping' | 'stopped'
  readonly incarnation: string
  readonly worker: WorkerReport
  readonly sweep: { turns: number; failures: number; sweeping: boolean }
}

const noWork: WorkerReport = {
  running: 0,
  slotsUsed: 0,
  fetch: { waitMs: 0, unknownClaim: false, draining: false },
  heartbeat: { claims: 0, failuresInARow: 0, uncertain: 0 },
  settle: { pending: 0, failuresInARow: 0 },
}

export function startRunning(
  shared: Omit<WorkerParts, 'worker'>,
  queues: Readonly<Record<string, { readonly concurrency: number }>>,
): Running {
  const { store, clock, intervals, emit, ask } = shared
  const parts: WorkerParts = { ...shared, worker: shared.random.id('incarnation') }
  const wake = createWake(clock)
  let phase: RunningReport['phase'] = 'starting'
  let worker: Worker | null = null
  let sweeper: Sweeper | null = null
  let stopped: Promise<void> | null = null
  const started = start()

  async function start(): Promise<void> {
    const fleet = await declared()
    if (!fleet || phase !== 'starting') return
    if (fleet.sweepMs !== intervals.sweepMs) {
      phase = 'stopped'
      throw new InvalidConfig(
        `sweepMs is ${intervals.sweepMs} here but ${fleet.sweepMs} on this store; all engines of a store must agree on it`,
      )
    }
    phase = 'running'
    emit({ type: 'engine.started', worker: parts.worker })
    worker = createWorker(parts, queues)
    const onReturned = worker.wake
    sweeper = createSweeper({ store, clock, intervals, ask, lastReplyMs: fleet.nowMs, onReturned })
  }

  async function declared(): Promise<{ sweepMs: number; nowMs: number } | null> {
    while (phase === 'starting') {
      try {
        return await ask('watch.declare', store.watch.declare({ sweepMs: intervals.sweepMs }))
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
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
    const settleMs = 2 * store.callMs + intervals.heartbeatRetryMs
    await worker?.stop({ drainMs, settleMs })
    await sweeper?.stop()
    phase = 'stopped'
    if (worker) emit({ type: 'engine.stopped', worker: parts.worker })
  }

  return {
    started,
    wake: () => worker?.wake(),
    stop: (drainMs) => (stopped ??= stop(drainMs)),
    report: () => ({
      phase,
      incarnation: parts.worker,
      worker: worker?.report() ?? noWork,
      sweep: sweeper?.report() ?? { turns: 0, failures: 0, sweeping: false },
    }),
  }
}
