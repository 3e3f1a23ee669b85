import { StoreUnavailable } from '../errors.ts'
import { isLastEviction } from '../jobs/record.ts'
import type { ClaimedJob } from '../ports/store.ts'
import type { HeldClaim, Leases } from './leases.ts'
import type { WorkerParts } from './parts.ts'
import type { Slots } from './slots.ts'
import { createWake } from './wake.ts'

/**
 * The fetch loop: claims at most what is free, at once again after a full batch, with backoff when idle.
 * A claim whose reply was lost is recovered by its token before anything else is claimed.
 */
export interface Fetcher {
  /** Something may be claimable: poll now. */
  readonly wake: () => void
  /** A slot became free: goes on if the loop was waiting for one. */
  slotFreed(): void
  /** Resolves when the loop has ended and no claim is in flight or unknown. */
  stop(): Promise<void>
  /** Gives up on a claim that is still unknown. */
  abandon(): void
  report(): { waitMs: number; unknownClaim: boolean; draining: boolean }
}

export interface FetchParts extends WorkerParts {
  readonly leases: Leases
  readonly slots: Slots
  readonly start: (claim: HeldClaim, job: ClaimedJob) => void
}

export function createFetcher(parts: FetchParts): Fetcher {
  const { clock, store, worker, intervals, leases, slots, emit, ask } = parts
  const wake = createWake(clock)
  const kinds = [...parts.handlers.keys()].sort()
  /** What the loop remembers between two turns. */
  const state = {
    waitMs: 0,
    claims: 0,
    unknown: null as HeldClaim | null,
    draining: false,
    stopping: false,
    abandoned: false,
  }
  const done = run()

  async function run(): Promise<void> {
    while (!state.stopping || (state.unknown && !state.abandoned)) {
      if (state.unknown) await recover(state.unknown)
      else if (mayClaim()) await claim()
      else state.waitMs = leases.uncertain() ? intervals.heartbeatRetryMs : Number.POSITIVE_INFINITY
      if (state.waitMs > 0 && !state.stopping) await rest(state.waitMs)
      else if (state.unknown && !state.abandoned) await rest(intervals.heartbeatRetryMs)
    }
  }

  async function rest(waitMs: number): Promise<void> {
    await wake.wait(Number.isFinite(waitMs) ? waitMs : null, 'poll')
  }

  function mayClaim(): boolean {
    if (state.draining && slots.used === 0) state.draining = false
    return !state.draining && !leases.uncertain() && slots.free().length > 0 && kinds.length > 0
  }

  async function claim(): Promise<void> {
    const queues = slots.free()
    const limit = queues.reduce((sum, queue) => sum + queue.limit, 0)
    const held = leases.hold(`${worker}.${++state.claims}`)
    try {
      const params = { token: held.token, worker, limit, queues, kinds, idle: slots.used === 0 }
      const reply = await ask('claims.claim', store.claims.claim(params))
      if (reply.kind === 'void') return unknown(held)
      state.draining = reply.soloWaiting
      take(held, reply.jobs)
      if (reply.jobs.length === 0) backOff()
      else state.waitMs = reply.jobs.length >= limit ? 0 : intervals.pollMs
    } catch (error) {
      if (!(error instanceof StoreUnavailable && error.sent === 'no')) return unknown(held)
      leases.answered(held)
      backOff()
    }
  }

  async function recover(held: HeldClaim): Promise<void> {
    try {
      const sentAtMs = clock.monotonicMs()
      const reply = await ask('claims.recover', store.claims.recover({ token: held.token, worker }))
      state.unknown = null
      if (reply.kind === 'recovered') held.sentAtMs = Math.max(held.sentAtMs, sentAtMs)
      take(held, reply.kind === 'recovered' ? reply.jobs : [])
      state.waitMs = 0
    } catch {
      backOff()
    }
  }

  function unknown(held: HeldClaim): void {
    state.unknown = held
    state.waitMs = 0
    emit({ type: 'claim.unknown', token: held.token })
  }

  function take(held: HeldClaim, jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) parts.start(held, job)
    leases.answered(held)
    if (jobs.some(isLastEviction)) state.draining = true
  }

  function backOff(): void {
    const waited = Number.isFinite(state.waitMs) ? state.waitMs : 0
    state.waitMs = Math.min(intervals.pollMsMax, Math.max(intervals.pollMs, 2 * waited))
  }

  return {
    wake: () => {
      state.waitMs = 0
      wake.wake()
    },
    slotFreed: () => {
      if (state.waitMs === Number.POSITIVE_INFINITY) wake.wake()
    },
    stop: () => {
      state.stopping = true
      wake.wake()
      return done
    },
    abandon: () => {
      state.abandoned = true
      wake.wake()
    },
    report: () => ({ waitMs: state.waitMs, unknownClaim: state.unknown !== null, draining: state.draining }),
  }
}
