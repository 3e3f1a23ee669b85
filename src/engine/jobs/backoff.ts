import { InvalidConfig } from '../errors.ts'
import { requireObject, shown } from '../given.ts'

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

const kinds: readonly Backoff['kind'][] = ['constant', 'linear', 'exponential']

/** The shape alone; whether its delays can be is seen from its table. Throws `InvalidConfig`. */
export function requireBackoff(what: string, backoff: Backoff): void {
  requireObject(what, backoff, InvalidConfig)
  const { kind, jitter = false, ...figures } = backoff
  if (!kinds.includes(kind)) {
    throw new InvalidConfig(`${what}.kind must be one of ${kinds.join(', ')}, not ${shown(kind)}`)
  }
  if (typeof jitter !== 'boolean') {
    throw new InvalidConfig(`${what}.jitter must be true or false, not ${shown(jitter)}`)
  }
  for (const [name, value] of Object.entries(figures)) {
    if (value === undefined || typeof value === 'number') continue
    throw new InvalidConfig(`${what}.${name} must be a number, not ${shown(value)}`)
  }
}

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
