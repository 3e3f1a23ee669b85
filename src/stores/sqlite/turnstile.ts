import type { Clock } from '../../engine/ports/clock.ts'
import type { Random } from '../../engine/ports/random.ts'
import { isBusy } from './errors.ts'

/**
 * Lets operations through one after another, and tries again while another process holds the lock. Waiting
 * inside SQLite would stop the event loop, and with it the heartbeats of every job that this process runs; so
 * the wait is a timer here, with jitter centred on its base (0.5 to 1.5 times), so that losers do not meet again
 * and the whole wait gets no longer.
 */
export interface Turnstile {
  /** Rejects with what `pass` throws; when that is still "busy" after `patienceMs`, with that. */
  run<R>(pass: () => R): Promise<R>
}

export interface TurnstileOptions {
  readonly clock: Clock
  readonly random: Random
  /** How long one operation waits for a lock, in ms. */
  readonly patienceMs: number
}

const [delayMsMin, delayMsMax] = [2, 50]
/** So many operations go through in one turn of the event loop when a lock was released. */
const turnMax = 16

interface Waiting {
  readonly sinceMs: number
  /** Whether it went through, or failed for good. */
  try(patient: boolean): boolean
}

export function createTurnstile({ clock, random, patienceMs }: TurnstileOptions): Turnstile {
  const line: Waiting[] = []
  let tries = 0

  /** Looks again after a while, and in any case when the first in line runs out of patience. */
  function arm(first: Waiting): void {
    const baseMs = Math.min(delayMsMin * 2 ** tries, delayMsMax)
    tries += 1
    const leftMs = Math.max(0, first.sinceMs + patienceMs - clock.monotonicMs())
    clock.timer(Math.min(baseMs * (0.5 + random.unit('retry')), leftMs), 'sqlite-busy', turn)
  }

  function turn(): void {
    for (let n = 0; n < turnMax; n++) {
      const first = line[0]
      if (!first) return
      const patient = clock.monotonicMs() - first.sinceMs < patienceMs
      if (!first.try(patient)) return arm(first)
      line.shift()
      tries = 0
    }
    if (line[0]) arm(line[0])
  }

  return {
    run: (pass) =>
      new Promise((resolve, reject) => {
        const waiting: Waiting = {
          sinceMs: clock.monotonicMs(),
          try: (patient) => {
            try {
              resolve(pass())
            } catch (error) {
              if (patient && isBusy(error)) return false
              reject(error)
            }
            return true
          },
        }
        if (line.length === 0 && waiting.try(true)) return
        if (line.push(waiting) === 1) arm(waiting)
      }),
  }
}
