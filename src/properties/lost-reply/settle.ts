import type { EventOf } from '../../engine/history.ts'
import { type Who, isSame, nameOf } from '../model/who.ts'
import type { Verdict } from '../property.ts'

/**
 * The half of `lost-reply-costs-nothing` about settles. Its one exemption: once a later settle of the job
 * has applied, the store can no longer tell, and `superseded` is the honest answer (contract 0.15).
 */
export interface LostSettles {
  storeCallMs: number
  /** When the reply of a settle of this node was last lost. */
  readonly lostAtMs: Map<string, number>
  /** The last settle that applied to each job, until its worker has heard of it. */
  readonly unheard: Map<string, Applied>
}

interface Applied extends Who {
  readonly epoch: number
  readonly atMs: number
}

export function newLostSettles(): LostSettles {
  return { storeCallMs: 0, lostAtMs: new Map(), unheard: new Map() }
}

type SettleEvent = EventOf<'run.started' | 'fault.struck' | 'job.settled' | 'attempt.confirmed'>

export function stepSettles(state: LostSettles, event: SettleEvent, verdict: Verdict): void {
  const { lostAtMs, unheard } = state
  switch (event.type) {
    case 'run.started':
      state.storeCallMs = event.storeCallMs
      return
    case 'fault.struck':
      if (event.family === 'lost-reply' && event.call === 'jobs.settle') lostAtMs.set(event.node, event.atMs)
      return
    case 'job.settled':
      return applied(unheard, event)
    case 'attempt.confirmed':
      return confirmed(state, event, verdict)
  }
}

function applied(unheard: Map<string, Applied>, event: EventOf<'job.settled'>): void {
  if (event.settled !== 'applied') return
  const { job, epoch, node, incarnation, atMs } = event
  const known = unheard.get(job)
  if (known && known.epoch >= epoch) return
  unheard.set(job, { epoch, node, incarnation, atMs })
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
