import { StoreUnavailable } from '../errors.ts'
import type { ClaimParams, ClaimedJob } from '../ports/store.ts'
import type { HeldClaim } from './held.ts'
import type { Leases } from './leases.ts'
import { claimAnswered } from './measures.ts'
import { createPace } from './pace.ts'
import type { WorkerParts } from './parts.ts'
import type { Slots } from './slots.ts'
import { createSolo } from './solo.ts'
import { createWake } from './wake.ts'

/**
 * The fetch loop: claims at most what is free, at once again after a full batch, with backoff when idle.
 * A claim whose reply was lost is recovered by its token before anything else is claimed.
 */
export interface Fetcher {
  /** Something may be claimable: poll now. */
  readonly wake: () => void
  /** A slot became free: goes on if more is known to wait for it. */
  slotFreed(queue: string): void
  /** A lease was given up: goes on if the loop hopes for the last of them. */
  leaseFreed(): void
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

const claimsInARowMax = 16

export function createFetcher(parts: FetchParts): Fetcher {
  const { clock, store, worker, intervals, leases, slots, emit, ask } = parts
  const wake = createWake(clock)
  const pace = createPace(intervals)
  const solo = createSolo(clock, leases)
  const kinds = [...parts.handlers.keys()].sort()
  /** What the loop remembers between two turns. */
  const state = {
    claims: 0,
    /** Since the loop last gave way to timers. */
    claimsInARow: 0,
    unknown: null as HeldClaim | null,
    unknownInARow: 0,
    resting: false,
    /** Something was freed between the loop's last look and its rest: it looks again instead. */
    missed: false,
    stopping: false,
    abandoned: false,
  }
  const done = run()

  async function run(): Promise<void> {
    while (goesOn()) {
      if (state.unknown) await recover(state.unknown)
      else await claimIfAllowed()
      if (pace.waitMs > 0 && goesOn()) await rest()
      if (state.claimsInARow >= claimsInARowMax && goesOn()) await giveWay()
    }
  }

  function goesOn(): boolean {
    return !state.stopping || (state.unknown !== null && !state.abandoned)
  }

  /** A store that answers at once would else keep timers waiting until its queue is empty: heartbeats, timeouts. */
  async function giveWay(): Promise<void> {
    state.claimsInARow = 0
    await new Promise<void>((resolve) => void clock.timer(0, 'give-way', resolve))
  }

  async function rest(): Promise<void> {
    if (state.missed) return void (state.missed = false)
    state.resting = true
    await wake.wait(Number.isFinite(pace.waitMs) ? pace.waitMs : null, 'poll')
    state.resting = false
  }

  async function claimIfAllowed(): Promise<void> {
    state.missed = false
    leases.lookAtDeadlines()
    const stance = solo.stance()
    if (stance !== null && leases.uncertain === 0 && slots.free().length > 0 && kinds.length > 0) {
      return claim(stance)
    }
    const certainMs = leases.uncertain > 0 ? intervals.heartbeatRetryMs : Number.POSITIVE_INFINITY
    pace.after(Math.min(certainMs, solo.waitMs))
  }

  async function claim(stance: ClaimParams['solo']): Promise<void> {
    state.claimsInARow += 1
    const queues = slots.free()
    const limit = queues.reduce((sum, queue) => sum + queue.limit, 0)
    const held = leases.hold(`${worker}.${++state.claims}`)
    try {
      const params = { token: held.token, worker, limit, queues, kinds, solo: stance }
      const reply = await ask('claims.claim', store.claims.claim(params))
      if (reply.kind === 'void') return unknown(held)
      state.unknownInARow = 0
      claimAnswered(parts, held.sentAtMs, reply.jobs)
      take(held, reply.jobs)
      solo.met(stance, reply)
      const free = slots.free()
      state.missed = false
      pace.claimed(queues, reply.jobs, free)
      // It may be idle already; and where all is taken, the next turn finds that there is nothing to ask.
      if (solo.draining || free.length === 0) pace.now()
    } catch (error) {
      if (!(error instanceof StoreUnavailable && error.sent === 'no')) return unknown(held)
      leases.answered(held)
      pace.backOff()
    }
  }

  async function recover(held: HeldClaim): Promise<void> {
    try {
      const sentAtMs = clock.monotonicMs()
      const reply = await ask('claims.recover', store.claims.recover({ token: held.token, worker }))
      state.unknown = null
      emit({ type: 'claim.known', token: held.token })
      if (reply.kind === 'recovered') held.sentAtMs = Math.max(held.sentAtMs, sentAtMs)
      take(held, reply.kind === 'recovered' ? reply.jobs : [])
      // A lost reply costs no time; a store that fails every claim is not asked in a circle.
      if (state.unknownInARow > 1) pace.backOff()
      else pace.now()
    } catch {
      pace.after(intervals.heartbeatRetryMs)
    }
  }

  function unknown(held: HeldClaim): void {
    state.unknown = held
    state.missed = false
    state.unknownInARow += 1
    pace.now()
    emit({ type: 'claim.unknown', token: held.token })
  }

  function take(held: HeldClaim, jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) parts.start(held, job)
    leases.answered(held)
    solo.took(jobs)
  }

  function freed(): void {
    if (state.resting) wake.wake()
    else state.missed = true
  }

  return {
    wake: () => {
      pace.reset()
      wake.wake()
    },
    slotFreed: (queue) => {
      if (!state.unknown && pace.waitsFor(queue)) freed()
    },
    leaseFreed: () => {
      if (solo.wantsIdle && leases.attempts === 0) freed()
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
    report: () => ({ waitMs: pace.waitMs, unknownClaim: state.unknown !== null, draining: solo.draining }),
  }
}
