import type { EventOf } from '../../engine/history.ts'
import { isAwake } from '../model/health.ts'
import { isHarmless } from '../model/harmless.ts'
import { type Who, isSame, nameOf } from '../model/who.ts'
import { type World, newWorld, note, type worldEvents } from '../model/world.ts'
import type { Verdict } from '../property.ts'

/**
 * The half of `lost-reply-costs-nothing` about claims. A claim is told by its jobs that did not start yet:
 * a worker has one claim on its way at a time.
 */
export interface LostClaims {
  readonly world: World
  readonly nodes: Map<string, Trouble>
  /** Claimed, and not started yet. */
  readonly waiting: Map<string, Waiting>
}

interface Waiting extends Who {
  readonly epoch: number
  /** The claim's request or reply was lost. */
  lost: boolean
  /** When its lease last landed, and the mishaps so far. */
  landedAtMs: number
  mishaps: number
}

interface Trouble {
  readonly incarnation: number
  mishaps: number
  /** When the last fault that lasts is over. */
  untilMs: number
  /** A claim was lost at this time, and what became of it is not known yet. */
  lostAtMs: number | null
}

export const claimEvents = [
  'job.claimed',
  'claim.recovered',
  'claim.voided',
  'lease.renewed',
  'attempt.started',
  'job.settled',
  'job.reclaimed',
  'job.timedOut',
] as const

type ClaimEvent = EventOf<(typeof worldEvents)[number] | (typeof claimEvents)[number]>

export function newLostClaims(): LostClaims {
  return { world: newWorld(), nodes: new Map(), waiting: new Map() }
}

export function stepClaims(state: LostClaims, event: ClaimEvent, verdict: Verdict): void {
  switch (event.type) {
    case 'job.claimed':
      cost(state, event, 'claimed-again', verdict)
      return claimed(state, event)
    case 'job.reclaimed':
      return cost(state, event, 'evicted', verdict)
    case 'job.timedOut':
      return cost(state, event, 'charged', verdict)
    case 'job.settled':
      return settled(state, event, verdict)
    case 'claim.voided':
      troubleOf(state, event).lostAtMs = null
      return
    case 'claim.recovered':
      troubleOf(state, event).lostAtMs = null
      return landed(state, event)
    case 'lease.renewed':
      return landed(state, event)
    case 'attempt.started':
      return started(state, event, verdict)
    default:
      note(state.world, event)
      if (event.type === 'node.paused') troubleOf(state, event).mishaps += tooMany
      else if (event.type === 'fault.struck' && event.node !== 'env') struck(state, event)
  }
}

/** One mishap is paid for by the margin of contract 0.3; two are not. */
const tooMany = 2

/** Only a lost renewal (a recovery is one) can cost the lease; what is no message may do anything. */
function struck(state: LostClaims, event: EventOf<'fault.struck'>): void {
  if (isHarmless(event.family)) return
  const trouble = troubleOf(state, event)
  if (event.forMs > 0) trouble.untilMs = Math.max(trouble.untilMs, event.atMs + event.forMs)
  if (event.call === null) trouble.mishaps += tooMany
  else if (event.call === 'claims.renew' || event.call === 'claims.recover') trouble.mishaps += 1
  else if (
    event.call === 'claims.claim' &&
    (event.family === 'lost-reply' || event.family === 'lost-request')
  ) {
    trouble.lostAtMs = event.atMs
    for (const claim of state.waiting.values()) if (isSame(claim, event)) claim.lost = true
  }
}

/** The fault may be announced before the claim executes, or after. */
function claimed(state: LostClaims, event: EventOf<'job.claimed'>): void {
  const { node, incarnation, epoch, atMs } = event
  const { lostAtMs } = troubleOf(state, event)
  const lost = lostAtMs !== null && atMs - lostAtMs <= state.world.storeCallMs
  const mishaps = mishapsOf(state, event)
  state.waiting.set(event.job, { node, incarnation, epoch, lost, landedAtMs: atMs, mishaps })
}

function landed(state: LostClaims, event: EventOf<'claim.recovered' | 'lease.renewed'>): void {
  const claim = state.waiting.get(event.job)
  if (!claim || !isSame(claim, event)) return
  claim.mishaps = mishapsOf(state, event)
  claim.landedAtMs = event.atMs
}

function started({ waiting }: LostClaims, event: EventOf<'attempt.started'>, verdict: Verdict): void {
  const claim = waiting.get(event.job)
  if (!claim || claim.epoch !== event.epoch || !isSame(claim, event)) return
  if (claim.lost) verdict.evaluated()
  waiting.delete(event.job)
}

function settled(state: LostClaims, event: EventOf<'job.settled'>, verdict: Verdict): void {
  if (event.settled !== 'applied' || state.waiting.get(event.job)?.epoch !== event.epoch) return
  if (event.outcome === 'failed') cost(state, event, 'charged', verdict)
  else state.waiting.delete(event.job)
}

type Cost = EventOf<'job.claimed' | 'job.settled' | 'job.reclaimed' | 'job.timedOut'>

function cost(state: LostClaims, event: Cost, kind: string, verdict: Verdict): void {
  const claim = state.waiting.get(event.job)
  state.waiting.delete(event.job)
  if (!claim?.lost || !isAwake(state.world, claim)) return
  if (mishapsOf(state, claim) - claim.mishaps >= tooMany || isInTrouble(state, claim)) return
  verdict.evaluated()
  const message = `${event.type} of job ${event.job}, which ${nameOf(claim)} had claimed at epoch ${claim.epoch}: it never had the answer, and never started it`
  verdict.violated({ kind, subject: event.job, message })
}

/** A fault that lasts had struck its machine when its lease last landed, and went on. */
function isInTrouble(state: LostClaims, claim: Waiting): boolean {
  return troubleOf(state, claim).untilMs > claim.landedAtMs
}

function mishapsOf(state: LostClaims, who: Who): number {
  return state.world.mishapCount + troubleOf(state, who).mishaps
}

function troubleOf({ nodes }: LostClaims, { node, incarnation }: Who): Trouble {
  let trouble = nodes.get(node)
  if (trouble && trouble.incarnation >= incarnation) return trouble
  nodes.set(node, (trouble = { incarnation, mishaps: 0, untilMs: trouble?.untilMs ?? 0, lostAtMs: null }))
  return trouble
}
