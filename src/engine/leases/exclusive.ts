import { NamedLeaseLost } from '../errors.ts'
import type { EngineEvent } from '../history.ts'
import { type Clock, sleep } from '../ports/clock.ts'
import type { NamedLeaseParams, Store } from '../ports/store.ts'
import type { StoreHealth } from '../store-health.ts'

/** What exclusive work is given. */
export interface Exclusive {
  /** Fires with `NamedLeaseLost` once the lease may be somebody else's: stop at once. */
  readonly signal: AbortSignal
}

export interface ExclusiveParts {
  readonly store: Store
  readonly clock: Clock
  readonly ask: StoreHealth['ask']
  readonly emit: (event: EngineEvent) => void
}

/** A lease is renewed at half its length; a renewal that failed is tried again after a tenth of it. */
const [renewPart, retryPart] = [2, 10]

/**
 * Runs `work` while it holds the named lease, renewed at half its length. Null if somebody else holds it.
 * The lease counts from the *sending* of the last renewal that succeeded; past that, or on a refusal, the
 * signal fires, whatever the store would say: exclusive work must have stopped by the time another starts.
 * When `giveUp` fires it waits for the work no more: that is a loss, and the lease is left to lapse, since the work
 * may still be at it.
 */
export async function runExclusive<R>(
  { store, clock, ask, emit }: ExclusiveParts,
  params: NamedLeaseParams,
  work: (exclusive: Exclusive) => Promise<R>,
  giveUp?: AbortSignal,
): Promise<{ readonly value: R } | null> {
  const { key, owner, ttlMs } = params
  const lost = new AbortController()
  const over = new AbortController()
  let sentAtMs = clock.monotonicMs()
  const leftMs = (): number => sentAtMs + ttlMs - clock.monotonicMs()
  const { acquired } = await ask('leases.acquire', store.leases.acquire(params))
  // An answer that took a whole lease to come says nothing of now.
  if (!acquired || leftMs() <= 0) return null

  function lose(why: string): void {
    if (lost.signal.aborted || over.signal.aborted) return
    emit({ type: 'exclusive.lost', key, owner })
    lost.abort(new NamedLeaseLost(`the lease ${key} ${why}; whatever ran under it must stop`))
  }

  /** Whether the renewal succeeded. */
  async function renew(): Promise<boolean> {
    const sendingMs = clock.monotonicMs()
    try {
      const { held } = await ask('leases.renew', store.leases.renew(params))
      if (held) sentAtMs = sendingMs
      else lose('was taken over')
      return held
    } catch {
      // The end of the lease decides; until then the next renewal may succeed.
      return false
    }
  }

  async function keep(): Promise<void> {
    let renewed = true
    for (;;) {
      await sleep(clock, ttlMs / (renewed ? renewPart : retryPart), 'lease-renewal', over.signal)
      if (lost.signal.aborted) return
      renewed = await renew()
    }
  }

  /** Waits for the end of the lease, which every renewal moves. */
  async function watch(): Promise<void> {
    while (leftMs() > 0) await sleep(clock, leftMs(), 'lease-end', over.signal)
    lose('could not be renewed')
  }

  let leave = (): void => {}
  const left = new Promise<null>((resolve) => {
    leave = () => {
      lose('was given up')
      resolve(null)
    }
  })
  giveUp?.addEventListener('abort', leave)

  emit({ type: 'exclusive.began', key, owner })
  // Both end by rejecting once the work is over.
  const guards = [keep(), watch()].map((guard) => guard.catch(() => {}))
  try {
    const done = begun(() => work({ signal: lost.signal }))
    return await Promise.race([done, left])
  } finally {
    giveUp?.removeEventListener('abort', leave)
    over.abort(new Error('the work is over'))
    emit({ type: 'exclusive.ended', key, owner })
    await Promise.all(guards)
    // A release that fails leaves the lease to lapse.
    if (!lost.signal.aborted)
      await ask('leases.release', store.leases.release({ key, owner })).catch(() => {})
  }
}

/** The types ask for a promise, but who has none to tell them may answer the value itself, as a handler may. */
async function begun<R>(work: () => Promise<R>): Promise<{ readonly value: R }> {
  return { value: await work() }
}
