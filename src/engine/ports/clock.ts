import { InvalidArgument } from '../errors.ts'
import { shown } from '../given.ts'

/**
 * Elapsed time and timers. The engine decides nothing by a wall clock: the database's time decides
 * what is due or expired, and a worker's own deadlines are durations on `monotonicMs`.
 */
export interface Clock {
  /**
   * Milliseconds since an arbitrary origin; never goes back, goes on while the machine sleeps, and need not agree
   * with any other node.
   */
  monotonicMs(): number
  /** Milliseconds since the Unix epoch on this node. For display only; it may be wrong by any amount. */
  wallMs(): number
  /**
   * Fires once after `delayMs` (>= 0; any length, also beyond Node's 2^31 - 1 ms). 0: when all that is ready to go on
   * has gone on.
   * `label` names the timer in traces. A cancelled timer never fires.
   */
  timer(delayMs: number, label: string, fire: () => void): Timer
}

export interface Timer {
  cancel(): void
}

/**
 * Resolves after `delayMs` (>= 0; infinite waits for the signal alone), or rejects at once with the signal's
 * reason when it is aborted.
 */
export function sleep(clock: Clock, delayMs: number, label: string, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    if (!(typeof delayMs === 'number' && delayMs >= 0)) {
      return reject(new InvalidArgument(`a delay must be a number of ms >= 0, not ${shown(delayMs)}`))
    }
    const onAbort = (): void => {
      timer.cancel()
      reject(signal?.reason)
    }
    const timer = clock.timer(delayMs, label, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
