import type { EventOf } from '../engine/history.ts'
import { type DatabaseClock, jump, newClock } from './model/clock.ts'
import { span } from './model/when.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a retry that comes at once hammers what is broken; a job that runs before its time breaks a promise;
 * and a band that is not heeded is none. A job that comes back waits behind those that came before it.
 * (Contract 0.8, 2.2, 5.1, 5.2.)
 *
 * Two jobs are compared only within one queue and kind, where one claim could have taken either, except
 * that the jobs of one claim come in their order whatever they are. One on its last eviction may be passed
 * over: it waits for an idle worker. All times are the database's own.
 *
 * Blind spot: order among queues, or kinds, of different claims.
 */
interface Place {
  readonly job: string
  readonly kind: string
  readonly queue: string
  readonly band: number
  readonly seq: number
  readonly backoffMs: readonly number[]
  readonly jitter: boolean
  readonly maxEvictions: number
  epoch: number
  /** At which a worker gave it back that does not know such inputs: then it waits a while. */
  misfit: number
  failures: number
  evictions: number
  running: boolean
  /** By the database's clock; null while it is not known, or the job is not queued. */
  visibleMs: number | null
  /** The last command that applied: a repeat of it is answered like the first. */
  command: string
}

/** As it was when it was taken. */
interface Taken {
  readonly place: Place
  readonly visibleMs: number | null
}

interface State {
  readonly clock: DatabaseClock
  inserts: number
  readonly places: Map<string, Place>
  readonly queued: Map<string, Place>
  /** The jobs of the claim that is being told. */
  taken: Taken[]
}

export const claimOrder: Property = property({
  name: 'claim-order',
  kind: 'always',
  says: 'No job is claimed before its time, nor before one that goes before it; it comes back after the delay that was asked for.',
  blindSpot: 'Order among the queues and kinds of different claims is not compared.',
  on: [
    'job.inserted',
    'job.claimed',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.takenBack',
    'job.cancelRequested',
    'job.commanded',
    'job.dispatched',
    'job.removed',
    'attempt.misfit',
    'database.jumped',
  ],
  suspendedBy: [],
  recalls: ['inserts', 'places', 'queued'],
  start: (): State => ({ clock: newClock(), inserts: 0, places: new Map(), queued: new Map(), taken: [] }),
  step(state, event, verdict) {
    if (event.type === 'database.jumped') return jump(state.clock, event)
    if (event.type === 'job.inserted') return inserted(state, event)
    const place = state.places.get(event.job)
    if (!place) return
    switch (event.type) {
      case 'job.removed':
        return void state.places.delete(event.job)
      case 'attempt.misfit':
        place.misfit = event.epoch
        return
      case 'job.claimed':
        return claimed(state, place, event, verdict)
      case 'job.settled':
        return settled(state, place, event, verdict)
      case 'job.reclaimed':
        place.evictions = event.evictions
        return taken(state, place, event, backoffAt(place, event.evictions))
      case 'job.timedOut':
        place.failures = event.failures
        return taken(state, place, event, backoffAt(place, event.failures))
      case 'job.takenBack':
        return taken(state, place, event, 0)
      case 'job.cancelRequested':
        if (event.kind === 'cancelled') leave(state, event.job, place)
        return
      case 'job.dispatched':
        return comeBack(state, event, place, 0)
      case 'job.commanded':
        return commanded(state, place, event)
    }
  },
})

function inserted(state: State, event: EventOf<'job.inserted'>): void {
  const { clock, places, queued } = state
  const { job, kind, queue, band, backoffMs, jitter, maxEvictions, dueMs, atMs } = event
  if (places.has(job)) return
  const place: Place = {
    job,
    kind,
    queue,
    band,
    seq: ++state.inserts,
    backoffMs,
    jitter,
    maxEvictions,
    epoch: 0,
    misfit: 0,
    failures: 0,
    evictions: 0,
    running: false,
    visibleMs: dueMs === null ? null : atMs + clock.aheadMs + dueMs,
    command: '',
  }
  places.set(job, place)
  queued.set(job, place)
}

function claimed(state: State, place: Place, event: EventOf<'job.claimed'>, verdict: Verdict): void {
  const { job, epoch, failures, evictions, batch, atMs } = event
  const nowMs = atMs + state.clock.aheadMs
  const { visibleMs } = place
  verdict.evaluated()
  if (visibleMs !== null && nowMs < visibleMs) {
    const message = `job ${job} was claimed ${span(visibleMs - nowMs)} before its time`
    verdict.violated({ kind: 'claimed-early', subject: job, message })
  }
  leave(state, job, place)
  place.epoch = epoch
  place.failures = failures
  place.evictions = evictions
  place.running = true
  state.taken.push({ place, visibleMs })
  if (state.taken.length < batch) return
  const told = state.taken
  state.taken = []
  judgeOrder(told, verdict)
  judgePassedOver(state, told, nowMs, verdict)
}

function judgeOrder(told: readonly Taken[], verdict: Verdict): void {
  for (let k = 1; k < told.length; k++) {
    const [before, after] = [told[k - 1], told[k]]
    if (!before || !after || !goesBefore(after, before)) continue
    const message = `one claim took job ${before.place.job} before job ${after.place.job}, which goes before it`
    verdict.violated({ kind: 'out-of-order', subject: after.place.job, message })
  }
}

function judgePassedOver({ queued }: State, told: readonly Taken[], nowMs: number, verdict: Verdict): void {
  for (const place of queued.values()) {
    const { visibleMs } = place
    if (visibleMs === null || visibleMs > nowMs || isLastEviction(place)) continue
    for (const taken of told) {
      if (taken.place.queue !== place.queue || taken.place.kind !== place.kind) continue
      if (!goesBefore({ place, visibleMs }, taken)) continue
      const message = `a claim took job ${taken.place.job}, and left job ${place.job}, which goes before it`
      return verdict.violated({ kind: 'passed-over', subject: place.job, message })
    }
  }
}

/** Band, then visible time, then insertion. Of one whose time is not known nothing is said. */
function goesBefore(a: Taken, b: Taken): boolean {
  if (a.visibleMs === null || b.visibleMs === null) return false
  if (a.place.band !== b.place.band) return a.place.band < b.place.band
  return a.visibleMs === b.visibleMs ? a.place.seq < b.place.seq : a.visibleMs < b.visibleMs
}

function isLastEviction({ evictions, maxEvictions }: Place): boolean {
  return evictions > 0 && evictions >= maxEvictions - 1
}

function settled(state: State, place: Place, event: EventOf<'job.settled'>, verdict: Verdict): void {
  if (event.settled !== 'applied' || !place.running || event.epoch !== place.epoch) return
  place.running = false
  if (event.state !== 'queued') return
  const { job, outcome, delayMs } = event
  if (outcome === 'failed') place.failures += 1
  const askedMs = outcome === 'failed' ? backoffAt(place, place.failures) : 0
  const misfit = outcome === 'released' && place.misfit === event.epoch && delayMs > 0
  const fits = outcome === 'failed' && place.jitter ? delayMs >= 0 && delayMs <= askedMs : delayMs === askedMs
  verdict.evaluated()
  if (!fits && !misfit) {
    const message = `job ${job} goes back (${outcome}) for ${span(delayMs)}; it was to be ${span(askedMs)}`
    verdict.violated({ kind: 'wrong-delay', subject: job, message })
  }
  comeBack(state, event, place, delayMs)
}

function taken(
  state: State,
  place: Place,
  event: EventOf<'job.reclaimed' | 'job.timedOut' | 'job.takenBack'>,
  delayMs: number,
): void {
  place.epoch = event.epoch
  place.running = false
  if (event.state === 'queued') comeBack(state, event, place, delayMs)
}

function commanded(state: State, place: Place, event: EventOf<'job.commanded'>): void {
  if (!event.applied || event.token === place.command) return
  place.command = event.token
  if (event.command === 'retry') [place.failures, place.evictions] = [0, 0]
  comeBack(state, event, place, event.delayMs)
}

function comeBack(
  { clock, queued }: State,
  { job, atMs }: { readonly job: string; readonly atMs: number },
  place: Place,
  delayMs: number,
): void {
  place.visibleMs = atMs + clock.aheadMs + delayMs
  queued.set(job, place)
}

function leave({ queued }: State, job: string, place: Place): void {
  queued.delete(job)
  place.visibleMs = null
}

/** The delay before the n-th return; the last entry serves all later ones. */
function backoffAt({ backoffMs }: Place, n: number): number {
  return backoffMs[Math.min(n, backoffMs.length) - 1] ?? 0
}
