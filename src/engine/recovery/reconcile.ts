import type { Metric } from '../metrics.ts'
import type { WorkerParts } from '../worker/parts.ts'

/**
 * One turn of recovery: moves the outage watch, in a statement of its own, and only then takes back what the
 * watch allows: leases that lapsed, attempts past their timeout, running jobs without a lease, claim rows no job
 * bears any more.
 */
export interface Reconciler {
  /** Whether a sweep is under way: another turn moves the watch, and sweeps nothing. */
  readonly sweeping: boolean
  /** The database time of its last reply, and when by its own clock that was. */
  readonly heard: { readonly nowAtMs: number; readonly atMs: number }
  /**
   * `count` numbers the turns from 1, since not each does what is only a backstop or only takes space; turn 0 does
   * everything. Rejects where a call failed.
   */
  turn(count: number): Promise<void>
  /** A sweep under way ends after its current call. */
  stop(): void
}

export interface ReconcilerParts extends Pick<WorkerParts, 'store' | 'clock' | 'ask' | 'measure'> {
  /** Whose ages are measured. */
  readonly queues: readonly string[]
  /** The database time of the last reply this process had. */
  readonly lastReplyMs: number
  /** Called when jobs have come back to the queue. */
  readonly onReturned: () => void
}

type Taken = Extract<Metric, { name: 'job.reclaimed' }>

const batch = 100
const voidMs = 24 * 3_600_000
/** A job created without a place in the queue waits so long for whoever created it. */
const undispatchedMs = 60_000
/** A running job without a lease is believed for so long after its claim: nothing tells that its worker is alive. */
const unleasedMs = 15 * 60_000
/** After so many turns the backstops come round in the same order: a multiple of all their `eachTurns`. */
export const turnsPeriod = 60

export function createReconciler({
  store,
  clock,
  ask,
  measure,
  queues,
  onReturned,
  lastReplyMs,
}: ReconcilerParts): Reconciler {
  const state = { sweeping: false, stopped: false }
  let heard = { nowAtMs: lastReplyMs, atMs: clock.monotonicMs() }

  /** Answers whether there is anything to take back. */
  async function moveWatch(): Promise<boolean> {
    const sinceReplyMs = clock.monotonicMs() - heard.atMs
    const params = { lastReplyMs: heard.nowAtMs, sinceReplyMs, maxAgeMs: store.callMs }
    const { nowMs, silent } = await ask('watch.move', store.watch.move(params))
    heard = { nowAtMs: nowMs, atMs: clock.monotonicMs() }
    return silent
  }

  function took(why: Taken['why'], jobs: readonly Pick<Taken, 'state'>[]): void {
    if (jobs.length > 0) onReturned()
    for (const { state } of jobs) measure?.({ name: 'job.reclaimed', why, state })
  }

  async function reclaim(): Promise<boolean> {
    const { jobs, full } = await ask('jobs.reclaim', store.jobs.reclaim({ limit: batch }))
    took('silent', jobs)
    return full
  }

  async function expireTimeouts(): Promise<boolean> {
    const { jobs } = await ask('jobs.expireTimeouts', store.jobs.expireTimeouts({ limit: batch }))
    took('timeout', jobs)
    return jobs.length === batch
  }

  async function adopt(): Promise<boolean> {
    const params = { limit: batch, silentMs: unleasedMs }
    const { jobs } = await ask('jobs.adopt', store.jobs.adopt(params))
    took('unleased', jobs)
    return jobs.length === batch
  }

  async function repairDispatch(): Promise<boolean> {
    const params = { limit: batch, olderMs: undispatchedMs }
    const { ids } = await ask('jobs.repairDispatch', store.jobs.repairDispatch(params))
    if (ids.length > 0) onReturned()
    return ids.length === batch
  }

  async function collect(): Promise<boolean> {
    const { removed } = await ask('claims.collect', store.claims.collect({ limit: batch, voidMs }))
    return removed === batch
  }

  async function measureAges(): Promise<boolean> {
    if (!measure || queues.length === 0) return false
    const ages = await ask('jobs.queueAges', store.jobs.queueAges({ queues }))
    for (const { queue, oldestDueMs } of ages) {
      measure({ name: 'queue.age', queue, ageMs: oldestDueMs ?? 0 })
    }
    return false
  }

  async function whileMore(takeBatch: () => Promise<boolean>): Promise<void> {
    let more = true
    while (more && !state.stopped) more = await takeBatch()
  }

  const backstops = [
    { eachTurns: 6, duty: expireTimeouts },
    // What has been silent for a quarter of an hour may be so for five minutes more.
    { eachTurns: 60, duty: adopt },
    { eachTurns: 6, duty: repairDispatch },
    { eachTurns: 6, duty: collect },
    { eachTurns: 6, duty: measureAges },
  ]

  return {
    get sweeping() {
      return state.sweeping
    },
    get heard() {
      return heard
    },
    turn: async (count) => {
      const silent = await moveWatch()
      if (state.sweeping || state.stopped) return
      state.sweeping = true
      try {
        if (silent) await whileMore(reclaim)
        for (const { eachTurns, duty } of backstops) if (count % eachTurns === 0) await whileMore(duty)
      } finally {
        state.sweeping = false
      }
    },
    stop: () => {
      state.stopped = true
    },
  }
}
