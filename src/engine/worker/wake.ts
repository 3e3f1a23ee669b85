import type { Clock } from '../ports/clock.ts'

/** A wait that ends after a time or when somebody wakes it. A wake that came early is not lost. */
export interface Wake {
  readonly wake: () => void
  /** Whoever waits looks at everything now: what woke before that is seen. */
  readonly forget: () => void
  /** Null waits for the wake alone. Resolves to whether it was time that ended it. */
  readonly wait: (delayMs: number | null, label: string) => Promise<boolean>
}

export function createWake(clock: Clock): Wake {
  let woken = false
  let end: ((byTime: boolean) => void) | null = null
  return {
    wake: () => {
      woken = true
      end?.(false)
    },
    forget: () => {
      woken = false
    },
    wait: (delayMs, label) => {
      if (woken) {
        woken = false
        return Promise.resolve(false)
      }
      return new Promise((resolve) => {
        const timer = delayMs === null ? null : clock.timer(delayMs, label, () => end?.(true))
        end = (byTime) => {
          end = null
          woken = false
          timer?.cancel()
          resolve(byTime)
        }
      })
    },
  }
}
