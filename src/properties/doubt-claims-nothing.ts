import type { EventOf } from '../engine/history.ts'
import { instant } from './model/when.ts'
import { type Who, isSame, nameOf } from './model/who.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a worker that does not know what became of its last claim, or whether it still holds what it runs, cannot
 * know whether it can do more. It claims nothing until it knows. (Contract 0.10, 0.21.)
 *
 * A claim that was begun when the doubt arose lands within the bound of a call, its repeats included, or when the
 * database that held it up comes back; one that a fault holds back comes when it comes.
 *
 * Blind spot: doubts that a worker ought to have, and has not: those are `lease-certainty`'s; and those about an
 * attempt that has ended, which it may lose without a word.
 */
interface Doubt extends Who {
  /** The claim of which nothing is known. */
  unknown: string | null
  /** Attempts whose lease is uncertain, by job; since when there are any. */
  readonly uncertain: Map<string, number>
  sinceMs: number
  /** A claim may come late until then. */
  lateMs: number
}

interface State {
  storeCallMs: number
  replyMs: number
  down: boolean
  upAtMs: number
  readonly doubts: Map<string, Doubt>
}

/** How late a request may be, at most. */
const lateMsMax = 60_000

export const doubtClaimsNothing: Property = property({
  name: 'doubt-claims-nothing',
  kind: 'always',
  says: 'A worker claims nothing while a claim of its own is unknown, or a lease of its own is in doubt.',
  blindSpot: 'Doubts that a worker ought to have, and has not, are not seen here.',
  on: [
    'run.started',
    'node.started',
    'node.resumed',
    'database.down',
    'database.up',
    'fault.struck',
    'claim.unknown',
    'claim.known',
    'attempt.uncertain',
    'attempt.certain',
    'attempt.ended',
    'attempt.lost',
    'attempt.confirmed',
    'job.claimed',
  ],
  suspendedBy: [],
  after: ['claim.unknown', 'attempt.uncertain'],
  start: (): State => ({ storeCallMs: 0, replyMs: 0, down: false, upAtMs: 0, doubts: new Map() }),
  step(state, event, verdict) {
    switch (event.type) {
      case 'run.started':
        state.storeCallMs = event.storeCallMs
        state.replyMs = event.replyMs
        return
      case 'database.down':
        state.down = true
        return
      case 'database.up':
        state.down = false
        state.upAtMs = event.atMs
        return
      case 'node.started': {
        const { node, incarnation } = event
        const fresh = { unknown: null, uncertain: new Map<string, number>(), sinceMs: 0, lateMs: -1 }
        return void state.doubts.set(node, { node, incarnation, ...fresh })
      }
      case 'job.claimed':
        return claimed(state, event, verdict)
      default:
        return changed(state, event, verdict)
    }
  },
})

type Changed = EventOf<
  | 'node.resumed'
  | 'fault.struck'
  | `claim.${'unknown' | 'known'}`
  | `attempt.${'uncertain' | 'certain' | 'ended' | 'lost' | 'confirmed'}`
>

function changed({ doubts }: State, event: Changed, verdict: Verdict): void {
  const doubt = doubts.get(event.node)
  if (!doubt || !isSame(doubt, event)) return
  switch (event.type) {
    case 'node.resumed':
      if (doubt.uncertain.size > 0) doubt.sinceMs = event.atMs
      return
    case 'fault.struck':
      if (event.call === 'claims.claim') doubt.lateMs = event.atMs + lateMsMax
      return
    case 'claim.unknown':
      doubt.unknown = event.token
      return
    case 'claim.known':
      if (doubt.unknown !== null) verdict.evaluated()
      doubt.unknown = null
      return
    case 'attempt.uncertain':
      if (doubt.uncertain.size === 0) doubt.sinceMs = event.atMs
      return void doubt.uncertain.set(event.job, event.epoch)
    default:
      if (doubt.uncertain.get(event.job) !== event.epoch) return
      verdict.evaluated()
      doubt.uncertain.delete(event.job)
  }
}

function claimed(
  { doubts, storeCallMs, replyMs, down, upAtMs }: State,
  event: EventOf<'job.claimed'>,
  verdict: Verdict,
): void {
  const { job, token, atMs } = event
  const doubt = doubts.get(event.node)
  if (!doubt || !isSame(doubt, event)) return
  if (doubt.unknown !== null && doubt.unknown !== token) {
    const message = `${nameOf(event)} claimed job ${job} under ${token}, and does not know what became of ${doubt.unknown}`
    return verdict.violated({ kind: 'claimed-while-unknown', subject: job, message })
  }
  if (doubt.uncertain.size === 0 || down || atMs <= doubt.lateMs) return
  if (atMs <= Math.max(doubt.sinceMs + storeCallMs, upAtMs + replyMs)) return
  const message = `${nameOf(event)} claimed job ${job}, and has not known since ${instant(doubt.sinceMs)} whether it holds ${doubt.uncertain.size} of its jobs`
  verdict.violated({ kind: 'claimed-while-uncertain', subject: job, message })
}
