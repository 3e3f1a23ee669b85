// The state that the patched functions of one realm share. Reading `armed` is all they do when idle.
import { describeLeak, type Leak } from './leak.ts'

/** Answers in place of the machine, for benches with `ambient: 'virtual'`. */
export interface AmbientSource {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number
  /** At least 0, less than 1. */
  random(): number
}

export interface Watch {
  armed: boolean
  source: AmbientSource | null
  /** The time of the machine that is being played at this moment, if any. */
  hostedMs: number | null
  /** The oldest leak that nobody has taken. Later ones are not even described: they often follow from it. */
  oldest: Leak | null
}

/** Records the call of `patched` that is on the stack now. Only for use while armed. */
export function report(watch: Watch, what: string, patched: object): void {
  if (watch.oldest !== null || watch.hostedMs !== null) return
  watch.armed = false
  try {
    watch.oldest = describeLeak(what, patched)
  } finally {
    watch.armed = true
  }
}
