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
  /** It has a place in the queue, or had one. */
  placed: boolean
}

export const standingEvents = [
  'job.inserted',
  'job.claimed',
  'job.settled',
  'job.reclaimed',
  'job.timedOut',
  'job.cancelRequested',
  'job.commanded',
  'job.dispatched',
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
      job.state = 'running'
      return
    case 'job.settled':
      if (event.settled === 'applied' && event.state !== null) job.state = event.state
      return
    case 'job.reclaimed':
    case 'job.timedOut':
      job.state = event.state
      return
    case 'job.cancelRequested':
      if (event.kind === 'cancelled') job.state = 'cancelled'
      return
    case 'job.commanded':
      if (event.command === 'reschedule' && event.applied) job.placed = true
      if (!startsAnew(retries, event)) return
      job.state = 'queued'
      job.placed = true
      return
    case 'job.dispatched':
      job.placed = true
  }
}

/** The repeat of an insert says again that it created the job. */
function inserted(jobs: Map<string, Standing>, { job, queue, undispatched }: EventOf<'job.inserted'>): void {
  if (!jobs.has(job)) jobs.set(job, { queue, state: 'queued', placed: !undispatched })
}
