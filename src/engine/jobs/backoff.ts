/** How long a job waits before its next attempt. All delays in ms; after the 32nd return they grow no more. */
export type Backoff =
  | { readonly kind: 'constant'; readonly delayMs: number; readonly jitter?: boolean }
  | { readonly kind: 'linear'; readonly firstMs: number; readonly maxMs: number; readonly jitter?: boolean }
  | {
      readonly kind: 'exponential'
      readonly firstMs: number
      readonly maxMs: number
      /** At least 1; default 2. */
      readonly factor?: number
      /** Full jitter: each delay is drawn from [0, delay). Default false. */
      readonly jitter?: boolean
    }

export const defaultBackoff: Backoff = { kind: 'exponential', firstMs: 1_000, maxMs: 60_000 }

/** Entries kept on the job. A delay that has not reached its cap by then grows no more. */
const entriesMax = 32

/** The delays before return 1, 2, ... `returns`, as given: `defineJob` refuses those that fall or are not finite. */
export function backoffTable(backoff: Backoff, returns: number): number[] {
  const table: number[] = []
  for (let n = 1; n <= Math.max(1, Math.min(returns, entriesMax)); n++) table.push(delayOf(backoff, n))
  return table
}

function delayOf(backoff: Backoff, n: number): number {
  switch (backoff.kind) {
    case 'constant':
      return Math.round(backoff.delayMs)
    case 'linear':
      return Math.round(Math.min(backoff.maxMs, backoff.firstMs * n))
    case 'exponential':
      return Math.round(Math.min(backoff.maxMs, backoff.firstMs * (backoff.factor ?? 2) ** (n - 1)))
  }
}

/** The delay before the n-th return (n >= 1). */
export function backoffAt(table: readonly number[], n: number): number {
  return table[Math.min(n, table.length) - 1] ?? 0
}
