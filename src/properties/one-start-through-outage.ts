import type { EventOf } from '../engine/history.ts'
import { isAwake, mustKeepLease } from './model/health.ts'
import { type Who, isSame, nameOf } from './model/who.ts'
import { type World, newWorld, note, worldEvents } from './model/world.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: this is what a user notices of an outage. An attempt that its worker carried through one, however
 * long, goes on and settles; nobody else begins the job again meanwhile. (Contract 0.20, 0.21.)
 *
 * Exempt, each because something other than the outage ended the attempt: its worker was struck, paused or
 * died within two TTLs of the reclaim (`mustKeepLease`); its own timeout ran out; it was settled, released
 * included (`onUncertainLease: 'abort'` gives back on purpose).
 *
 * Blind spot: attempts whose worker was struck by any fault near the outage are not judged.
 */
interface Running extends Who {
  readonly epoch: number
  readonly leaseTtlMs: number
  /** The database is down, and was when this already ran. */
  inOutage: boolean
  outages: number
  /** It was reclaimed though its worker was well: the next start is the violation. */
  evicted: boolean
}

interface State {
  readonly world: World
  readonly ttlMs: Map<string, number>
  readonly attempts: Map<string, Running>
}

export const oneStartThroughOutage: Property = property({
  name: 'one-start-through-outage',
  kind: 'always',
  says: 'A job whose worker lived through an outage is not started again before its attempt is settled.',
  blindSpot: 'Attempts whose worker was struck by any fault near the outage are not judged.',
  on: [
    ...worldEvents,
    'job.inserted',
    'attempt.started',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.takenBack',
  ],
  suspendedBy: [],
  recalls: ['ttlMs'],
  forgets: ['attempts'],
  needs: ['outage-short', 'outage-long', 'database-restart'],
  start: (): State => ({ world: newWorld(), ttlMs: new Map(), attempts: new Map() }),
  step(state, event, verdict) {
    const { world, ttlMs, attempts } = state
    switch (event.type) {
      case 'job.inserted':
        if (!ttlMs.has(event.job)) ttlMs.set(event.job, event.leaseTtlMs)
        return
      case 'attempt.started':
        return started(state, event, verdict)
      case 'job.settled':
        return settled(state, event, verdict)
      case 'job.reclaimed': {
        const attempt = attempts.get(event.job)
        if (!attempt || attempt.evicted) return
        if (isSheltered(world, attempt, event.atMs)) attempt.evicted = true
        else attempts.delete(event.job)
        return
      }
      case 'job.timedOut':
      case 'job.takenBack':
        attempts.delete(event.job)
        return
      default:
        note(world, event)
        if (event.type === 'database.down') goDown(state)
        else if (event.type === 'database.up') comeUp(state, event.atMs)
    }
  },
})

function started(state: State, event: EventOf<'attempt.started'>, verdict: Verdict): void {
  const { world, ttlMs, attempts } = state
  const { job, epoch, node, incarnation, atMs } = event
  const before = attempts.get(job)
  if (before && (before.evicted || isSheltered(world, before, atMs))) {
    verdict.evaluated()
    const message = `job ${job} was started by ${nameOf(event)} at epoch ${epoch}, though ${nameOf(before)} had carried its epoch ${before.epoch} through ${before.outages} outage(s)`
    verdict.violated({ kind: 'started-again', subject: job, message })
  }
  const leaseTtlMs = ttlMs.get(job)
  if (leaseTtlMs === undefined) return
  attempts.set(job, { node, incarnation, epoch, leaseTtlMs, inOutage: false, outages: 0, evicted: false })
}

/** The outage is over for this attempt, and nobody had begun it again: the promise was kept. */
function settled({ world, attempts }: State, event: EventOf<'job.settled'>, verdict: Verdict): void {
  const attempt = attempts.get(event.job)
  if (!attempt || event.settled !== 'applied' || event.epoch !== attempt.epoch) return
  if (isSame(attempt, event) && isSheltered(world, attempt, event.atMs)) verdict.evaluated()
  attempts.delete(event.job)
}

function isSheltered(world: World, attempt: Running, atMs: number): boolean {
  return attempt.outages > 0 && mustKeepLease(world, attempt, attempt.leaseTtlMs, atMs)
}

function goDown({ world, attempts }: State): void {
  for (const attempt of attempts.values()) attempt.inOutage = isAwake(world, attempt)
}

function comeUp({ world, attempts }: State, atMs: number): void {
  for (const attempt of attempts.values()) {
    if (attempt.inOutage && mustKeepLease(world, attempt, attempt.leaseTtlMs, atMs)) attempt.outages += 1
    attempt.inOutage = false
  }
}
