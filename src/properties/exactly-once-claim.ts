import type { EventOf } from '../engine/history.ts'
import { type Timeline, begins, newTimeline } from './model/timeline.ts'
import { type Who, isSame, nameOf } from './model/who.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: the epoch is the fencing token. If it ever repeats, or two processes hold one, every other promise
 * about jobs is void. (Contract 0.10, 0.13, 2.1.)
 *
 * Blind spot: it sees who the store says took a job. A second process that runs a handler without ever
 * saying `attempt.started` is invisible to it.
 */
interface Claim {
  epoch: number
  /** Who took this epoch; '' after a reclaim or a timeout, which raise it for nobody. */
  node: string
  incarnation: number
  running: boolean
  started: boolean
  /** Earlier claims that were superseded before they started: a zombie may still start one, once. */
  late: (Who & { readonly epoch: number })[] | null
}

interface State {
  readonly claims: Map<string, Claim>
  readonly timeline: Timeline
}

export const exactlyOnceClaim: Property = property({
  name: 'exactly-once-claim',
  kind: 'always',
  says: 'The epochs of a job rise by exactly one, from where its timeline begins, and each has one holder, which starts it at most once.',
  blindSpot: 'A handler that runs without its attempt.started event is not seen.',
  on: [
    'job.claimed',
    'claim.recovered',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.takenBack',
    'timeline.began',
    'job.removed',
    'attempt.started',
  ],
  suspendedBy: [],
  recalls: 'all',
  start: (): State => ({ claims: new Map(), timeline: newTimeline() }),
  step({ claims, timeline }, event, verdict) {
    if (event.type === 'timeline.began') return void begins(timeline, event)
    const claim = claims.get(event.job) ?? unclaimed(claims, event.job)
    const nextEpoch = Math.max(claim.epoch, timeline.first) + 1
    switch (event.type) {
      case 'job.claimed':
        return claimed(claim, event, nextEpoch, verdict)
      case 'job.reclaimed':
      case 'job.timedOut':
        return taken(claim, event, nextEpoch, verdict)
      case 'job.takenBack':
        // It is where its timeline begins, or where it was.
        return taken(claim, event, nextEpoch - 1, verdict)
      case 'job.settled':
        if (event.settled === 'applied' && event.epoch === claim.epoch) claim.running = false
        return
      case 'job.removed':
        // Another may come by its id, and begins anew.
        return supersede(claim, 0, { node: '', incarnation: 0 })
      case 'claim.recovered':
        return recovered(claim, event, verdict)
      case 'attempt.started':
        return started(claim, event, verdict)
    }
  },
})

type Taken = EventOf<'job.reclaimed' | 'job.timedOut' | 'job.takenBack'>

function taken(claim: Claim, event: Taken, toEpoch: number, verdict: Verdict): void {
  verdict.evaluated()
  if (!claim.running) {
    const message = `${event.type} of job ${event.job} at epoch ${event.epoch}, which nobody held`
    verdict.violated({ kind: 'taken-from-nobody', subject: event.job, message })
  } else rise(claim, event, toEpoch, verdict)
  supersede(claim, event.epoch, { node: '', incarnation: 0 })
}

function claimed(claim: Claim, event: EventOf<'job.claimed'>, toEpoch: number, verdict: Verdict): void {
  verdict.evaluated()
  const held = claim.running ? nameOf(claim) : null
  if (held && claim.epoch === event.epoch) {
    const message = `two holders of job ${event.job} at epoch ${event.epoch}: ${held}, ${nameOf(event)}`
    verdict.violated({ kind: 'two-holders', subject: event.job, message })
  } else if (held) {
    const message = `${nameOf(event)} claimed job ${event.job} while ${held} held it at epoch ${claim.epoch}`
    verdict.violated({ kind: 'claimed-while-held', subject: event.job, message })
  } else {
    rise(claim, event, toEpoch, verdict)
  }
  supersede(claim, event.epoch, event)
  claim.running = true
}

function rise(claim: Claim, event: EventOf<'job.claimed'> | Taken, toEpoch: number, verdict: Verdict): void {
  if (event.epoch === toEpoch) return
  const kind = event.epoch < toEpoch ? 'epoch-not-risen' : 'epoch-skipped'
  const message = `${event.type} of job ${event.job} at epoch ${event.epoch} after epoch ${claim.epoch}`
  verdict.violated({ kind, subject: event.job, message })
}

function recovered(claim: Claim, event: EventOf<'claim.recovered'>, verdict: Verdict): void {
  verdict.evaluated()
  if (claim.running && claim.epoch === event.epoch && isSame(claim, event)) return
  const message = `${nameOf(event)} recovered job ${event.job} at epoch ${event.epoch} without holding it`
  verdict.violated({ kind: 'recovered-by-another', subject: event.job, message })
}

function started(claim: Claim, event: EventOf<'attempt.started'>, verdict: Verdict): void {
  verdict.evaluated()
  const { job, epoch } = event
  if (claim.epoch === epoch && isSame(claim, event)) {
    if (claim.started) {
      const message = `${nameOf(event)} started job ${job} twice at epoch ${epoch}`
      verdict.violated({ kind: 'started-twice', subject: job, message })
    }
    claim.started = true
    return
  }
  const at = claim.late?.findIndex((late) => late.epoch === epoch && isSame(late, event)) ?? -1
  if (at >= 0) return void claim.late?.splice(at, 1)
  const message = `${nameOf(event)} started job ${job} at epoch ${epoch}, which it does not hold or had started before`
  verdict.violated({ kind: 'started-by-another', subject: job, message })
}

function supersede(claim: Claim, epoch: number, { node, incarnation }: Who): void {
  if (claim.node !== '' && !claim.started) {
    claim.late ??= []
    claim.late.push({ epoch: claim.epoch, node: claim.node, incarnation: claim.incarnation })
  }
  claim.epoch = epoch
  claim.node = node
  claim.incarnation = incarnation
  claim.running = false
  claim.started = false
}

function unclaimed(claims: State['claims'], job: string): Claim {
  const claim: Claim = { epoch: 0, node: '', incarnation: 0, running: false, started: false, late: null }
  claims.set(job, claim)
  return claim
}
