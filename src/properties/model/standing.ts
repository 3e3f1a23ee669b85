import type { EventOf, HistoryEvent } from '../../engine/history.ts'
import { type Retries, startsAnew } from './retries.ts'

/** Where each job stands in the store, as what was done to it says; in the order in which they were inserted. */
export interface Standings {
  readonly jobs: Map<string, Standing>
  readonly retries: Retries
}

export interface Standing {
  readonly queue: string
  state: EventOf<'job.final'>['state']
  /** It failed for good, and nobody has seen to that. */
  dead: boolean
  /** It has a place in the queue, or had one. */
  placed: boolean
}

export const standingEvents = [
  'job.inserted',
  'job.claimed',
  'job.settled',
  'job.reclaimed',
  'job.timedOut',
  'job.takenBack',
  'job.cancelRequested',
  'job.commanded',
  'job.dispatched',
  'job.replayed',
  'job.discarded',
  'job.removed',
] as const

export function newStandings(): Standings {
  return { jobs: new Map(), retries: new Map() }
}

export function noteStanding(
  { jobs, retries }: Standings,
  event: Extract<HistoryEvent, { type: (typeof standingEvents)[number] }>,
): void {
  if (event.type === 'job.inserted') return inserted(jobs, event)
  const job = jobs.get(event.job)
  if (!job) return
  switch (event.type) {
    case 'job.claimed':
      return moveTo(job, 'running')
    case 'job.settled':
      if (event.settled === 'applied' && event.state !== null) moveTo(job, event.state)
      return
    case 'job.reclaimed':
    case 'job.timedOut':
    case 'job.takenBack':
      return moveTo(job, event.state)
    case 'job.cancelRequested':
      if (event.kind === 'cancelled') moveTo(job, 'cancelled')
      return
    case 'job.commanded':
      if (event.command === 'reschedule' && event.applied) job.placed = true
      if (!startsAnew(retries, event)) return
      job.placed = true
      return moveTo(job, 'queued')
    case 'job.dispatched':
      job.placed = true
      return
    case 'job.replayed':
    case 'job.discarded':
      job.dead = false
      return
    case 'job.removed':
      jobs.delete(event.job)
  }
}

/** A repeat that finds the job where it is already changes nothing: since then somebody may have seen to it. */
function moveTo(job: Standing, state: Standing['state']): void {
  if (job.state === state) return
  job.state = state
  job.dead = state === 'failed'
}

/** The repeat of an insert says again that it created the job. */
function inserted(jobs: Map<string, Standing>, { job, queue, undispatched }: EventOf<'job.inserted'>): void {
  if (!jobs.has(job)) jobs.set(job, { queue, state: 'queued', dead: false, placed: !undispatched })
}
