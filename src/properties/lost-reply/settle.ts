import type { EventOf } from '../../engine/history.ts'
import { mustKeepLease } from '../model/health.ts'
import { span } from '../model/when.ts'
import { type Who, isSame, nameOf } from '../model/who.ts'
import type { World } from '../model/world.ts'
import type { Verdict } from '../property.ts'

/**
 * The half of `lost-reply-costs-nothing` about settles.
 *
 * Its exemptions: once a later settle of the job has applied, the store can no longer tell, and
 * `superseded` is the honest answer (contract 0.15). And an attempt that ended may be taken back unsettled
 * if its worker was touched by any fault within two TTLs: until then it may not have got through.
 */
export interface LostSettles {
  storeCallMs: number
  /** When the reply of a settle of this node was last lost. */
  readonly lostAtMs: Map<string, number>
  /** The last settle that applied to each job, until its worker has heard of it. */
  readonly unheard: Map<string, Settle>
  /** Attempts that ended, until a settle of theirs applies. */
  readonly unsettled: Map<string, Settle>
  readonly ttlMs: Map<string, number>
}

interface Settle extends Who {
  readonly epoch: number
  readonly atMs: number
}

export function newLostSettles(): LostSettles {
  return { storeCallMs: 0, lostAtMs: new Map(), unheard: new Map(), unsettled: new Map(), ttlMs: new Map() }
}

export const settleEvents = ['attempt.ended', 'attempt.confirmed'] as const

type TakenBack = EventOf<'job.reclaimed' | 'job.timedOut'>
type Shared = EventOf<'run.started' | 'fault.struck' | 'job.claimed' | 'job.settled'>
type SettleEvent = EventOf<(typeof settleEvents)[number]> | TakenBack | Shared

export function stepSettles(state: LostSettles, world: World, event: SettleEvent, verdict: Verdict): void {
  const { lostAtMs, unsettled, ttlMs } = state
  switch (event.type) {
    case 'run.started':
      state.storeCallMs = event.storeCallMs
      return
    case 'fault.struck':
      if (event.family === 'lost-reply' && event.call === 'jobs.settle') lostAtMs.set(event.node, event.atMs)
      return
    case 'job.claimed':
      ttlMs.set(event.job, event.leaseTtlMs)
      return
    case 'attempt.ended': {
      const { job, epoch, node, incarnation, atMs } = event
      unsettled.set(job, { epoch, node, incarnation, atMs })
      return
    }
    case 'job.settled':
      return applied(state, event, verdict)
    case 'job.reclaimed':
    case 'job.timedOut':
      return takenBack(state, world, event, verdict)
    case 'attempt.confirmed':
      return confirmed(state, event, verdict)
  }
}

/** Counts the settle that first applies as a repeat: its request was lost, and that cost nothing. */
function applied({ unheard, unsettled }: LostSettles, event: EventOf<'job.settled'>, verdict: Verdict): void {
  if (event.settled !== 'applied') return
  const { job, epoch, node, incarnation, atMs } = event
  if (unsettled.get(job)?.epoch === epoch) {
    unsettled.delete(job)
    if (event.repeated) verdict.evaluated()
  }
  const known = unheard.get(job)
  if (known && known.epoch >= epoch) return
  unheard.set(job, { epoch, node, incarnation, atMs })
}

function takenBack(
  { unsettled, ttlMs }: LostSettles,
  world: World,
  event: TakenBack,
  verdict: Verdict,
): void {
  const { job, type, epoch, atMs } = event
  const done = unsettled.get(job)
  unsettled.delete(job)
  const leaseTtlMs = ttlMs.get(job)
  if (!done || leaseTtlMs === undefined || done.epoch !== epoch - 1) return
  if (atMs - done.atMs < leaseTtlMs || !mustKeepLease(world, done, leaseTtlMs, atMs)) return
  verdict.evaluated()
  const message = `${type} of job ${job}, which ${nameOf(done)} had done ${span(atMs - done.atMs)} ago: its settle never came`
  verdict.violated({ kind: 'settle-forgotten', subject: job, message })
}

function confirmed(state: LostSettles, event: EventOf<'attempt.confirmed'>, verdict: Verdict): void {
  const { job, epoch, settled } = event
  const own = state.unheard.get(job)
  if (!own || own.epoch !== epoch || !isSame(own, event)) return
  state.unheard.delete(job)
  const lostAtMs = state.lostAtMs.get(event.node)
  const replyLost = lostAtMs !== undefined && lostAtMs >= own.atMs - state.storeCallMs
  if (replyLost || settled !== 'applied') verdict.evaluated()
  if (settled === 'applied') return
  const message = `the settle of job ${job} by ${nameOf(own)} applied at epoch ${epoch}, but it was told ${settled}`
  verdict.violated({ kind: 'applied-settle-denied', subject: job, message })
}
