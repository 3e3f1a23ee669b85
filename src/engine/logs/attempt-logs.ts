import type { ClaimedJob } from '../ports/store.ts'
import type { WorkerParts } from '../worker/parts.ts'
import { AttemptLog } from './attempt-log.ts'

/** The logs of the attempts of one worker: what of them is under way. An attempt that says nothing has none. */
export interface AttemptLogs {
  of(job: ClaimedJob): AttemptLog
  /**
   * Calls `then` when what the attempt has said is in the store, at once if it all is: what ends the attempt comes after
   * that. After the time of one store call it is waited for no longer, and is lost.
   */
  flushed(log: AttemptLog | null, then: () => void): void
  /** The attempt is over without that: what is not in the store by now is lost. */
  drop(log: AttemptLog | null): void
  /** Some attempt waits for that. */
  readonly flushing: boolean
  /** Resolves when none does. */
  idle(): Promise<void>
  /** Sends nothing more; resolves when no append is in flight. */
  stop(): Promise<void>
  /** Nothing is to be sent. */
  readonly atRest: boolean
}

export function createAttemptLogs(parts: WorkerParts): AttemptLogs {
  /** Those with something on its way. */
  const busy = new Map<AttemptLog, Promise<void>>()
  const flushes = new Set<Promise<void>>()
  const logs = new Set<AttemptLog>()

  return {
    of: (job) => {
      const log: AttemptLog = new AttemptLog(parts, job, (running) => {
        busy.set(log, running)
        void running.then(() => {
          if (busy.get(log) === running) busy.delete(log)
        })
      })
      logs.add(log)
      return log
    },
    flushed: (log, then) => {
      if (!log) return then()
      log.seal()
      logs.delete(log)
      const flush = log.flush()
      if (!flush) return then()
      const ended = flush.then(() => {
        flushes.delete(ended)
        log.drop('unavailable')
        then()
      })
      flushes.add(ended)
    },
    drop: (log) => {
      if (!log) return
      logs.delete(log)
      log.drop('fenced')
    },
    get flushing() {
      return flushes.size > 0
    },
    idle: async () => {
      while (flushes.size > 0) await Promise.all(flushes)
    },
    stop: async () => {
      for (const log of [...logs, ...busy.keys()]) log.drop('unavailable')
      await Promise.all(busy.values())
    },
    get atRest() {
      return flushes.size === 0 && busy.size === 0 && [...logs].every((log) => log.atRest)
    },
  }
}
