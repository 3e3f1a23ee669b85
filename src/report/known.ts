import type { EventOf, HistoryEvent } from '../engine/history.ts'
import { epochMs } from '../sim/clock/node-clock.ts'

/** What the events so far say about the next one. */
export interface Known {
  /** The run's own time of an instant of the database. */
  inRun(databaseMs: number): number
  /** For how long the watch has seen the database up, by the database's clock; null: it has not been moved. */
  upMs(atMs: number): number | null
  /** What the watch lets pass between two moves (contract 0.20). */
  readonly gapMsMax: number
  /** Since the watch was last moved, if that is more than it lets pass; else null. */
  gapMs(atMs: number): number | null
  /** Of the lease of a job that was claimed. */
  ttlMs(job: string): number | null
  note(event: HistoryEvent): void
}

export function createKnown(): Known {
  /** From when on the clock of the database was how far ahead, the latest first. */
  const clock = [{ fromMs: Number.NEGATIVE_INFINITY, aheadMs: 0 }]
  const ttls = new Map<string, number>()
  let gapMsMax = Number.POSITIVE_INFINITY
  let watch: EventOf<'watch.moved'> | null = null
  const aheadMs = (): number => clock[0]?.aheadMs ?? 0
  return {
    get gapMsMax() {
      return gapMsMax
    },
    inRun: (databaseMs) => {
      const runMs = databaseMs - epochMs
      const then = clock.find((since) => runMs - since.aheadMs >= since.fromMs)
      return runMs - (then?.aheadMs ?? 0)
    },
    upMs: (atMs) => watch && epochMs + atMs + aheadMs() - watch.seenSinceMs,
    gapMs: (atMs) => (watch && atMs - watch.atMs > gapMsMax ? atMs - watch.atMs : null),
    ttlMs: (job) => ttls.get(job) ?? null,
    note: (event) => {
      if (event.type === 'run.started') gapMsMax = 2 * event.sweepMs
      else if (event.type === 'job.claimed') ttls.set(event.job, event.leaseTtlMs)
      else if (event.type === 'watch.moved') watch = event.kind === 'refused' ? watch : event
      else if (event.type === 'database.restored') watch = null
      else if (event.type === 'database.jumped')
        clock.unshift({ fromMs: event.atMs, aheadMs: aheadMs() + event.byMs })
    },
  }
}
