import type { EventOf } from '../engine/history.ts'
import { type Timeline, begins, newTimeline } from './model/timeline.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: an operator decides on what he has read. If the job has moved on since, his command must not apply; so
 * every write of a job counts, and a command names the version that it is for. What is no write of the job, such
 * as the renewal of a lease, does not count: else every command would come too late. (Contract 0.14.)
 *
 * Blind spot: versions are seen where commands are answered, and at the end.
 */
interface Job {
  version: number
  epoch: number
  state: 'queued' | 'running' | 'ended'
  /** Its end was asked for. */
  asked: boolean
  /** The last command that applied: a repeat of it is answered like the first. */
  command: string
}

interface State {
  readonly jobs: Map<string, Job>
  readonly timeline: Timeline
}

export const versionsCount: Property = property({
  name: 'versions-count',
  kind: 'always',
  says: 'The version of a job counts its writes and nothing else, and a command applies only at the version that it names.',
  blindSpot: 'Versions are seen where commands are answered, and at the end.',
  on: [
    'job.inserted',
    'job.claimed',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.takenBack',
    'timeline.began',
    'job.dispatched',
    'job.noted',
    'job.cancelRequested',
    'job.commanded',
    'job.replayed',
    'job.discarded',
    'job.removed',
    'job.final',
  ],
  suspendedBy: [],
  recalls: 'all',
  start: (): State => ({ jobs: new Map(), timeline: newTimeline() }),
  step({ jobs, timeline }, event, verdict) {
    if (event.type === 'timeline.began') return begins(timeline, event) ? leapt(jobs) : undefined
    const job = jobs.get(event.job)
    if (!job) {
      const fresh = { version: 1, epoch: 0, state: 'queued', asked: false, command: '' } as const
      if (event.type === 'job.inserted') jobs.set(event.job, { ...fresh })
      return
    }
    switch (event.type) {
      case 'job.inserted':
        return
      case 'job.replayed':
      case 'job.discarded':
        if (event.applied) job.version += 1
        return
      case 'job.removed':
        return void jobs.delete(event.job)
      case 'job.commanded':
        return commanded(job, event, verdict)
      case 'job.final':
        jobs.delete(event.job)
        return compare(job, event.version, event.job, verdict)
      default:
        return wrote(job, event)
    }
  },
})

type Write =
  EventOf<`job.${'claimed' | 'settled' | 'reclaimed' | 'timedOut' | 'takenBack' | 'dispatched' | 'noted' | 'cancelRequested'}`>

function wrote(job: Job, event: Write): void {
  switch (event.type) {
    case 'job.claimed':
      job.epoch = event.epoch
      return moved(job, 'running')
    case 'job.settled':
      if (event.settled !== 'applied' || job.state !== 'running' || job.epoch !== event.epoch) return
      return moved(job, event.state === 'queued' ? 'queued' : 'ended')
    case 'job.reclaimed':
    case 'job.timedOut':
    case 'job.takenBack':
      return moved(job, event.state === 'queued' ? 'queued' : 'ended')
    case 'job.dispatched':
      return moved(job, 'queued')
    case 'job.noted':
      if (event.applied && event.what === 'progress') job.version += 1
      return
    case 'job.cancelRequested':
      // Asked for again, nothing is written.
      if (job.asked || job.state === 'ended') return
      job.asked = true
      return moved(job, event.kind === 'cancelled' ? 'ended' : job.state)
  }
}

/** Of what waits the epochs leap; what ran is told apart, and what has ended stays as it is. */
function leapt(jobs: State['jobs']): void {
  for (const job of jobs.values()) if (job.state === 'queued') job.version += 1
}

function moved(job: Job, state: Job['state']): void {
  job.version += 1
  job.state = state
}

function commanded(job: Job, event: EventOf<'job.commanded'>, verdict: Verdict): void {
  const { command, token, asked, applied } = event
  if (!applied && token === job.command) {
    const message = `a ${command} of job ${event.job} had applied, and its repeat was refused`
    verdict.violated({ kind: 'own-command-denied', subject: event.job, message })
  }
  if (applied && token !== job.command) {
    if (asked !== job.version) {
      const message = `a ${command} of job ${event.job} at version ${asked} applied, when it was at ${job.version}`
      verdict.violated({ kind: 'stale-command-applied', subject: event.job, message })
    }
    moved(job, 'queued')
    job.command = token
    if (command === 'retry') job.asked = false
  }
  compare(job, event.version, event.job, verdict)
}

/** Goes on from what it was told, so that one slip is one violation. */
function compare(job: Job, told: number | null, subject: string, verdict: Verdict): void {
  if (told === null) return
  verdict.evaluated()
  if (told === job.version) return
  const message = `job ${subject} is at version ${told}, after ${job.version} writes of it`
  job.version = told
  verdict.violated({ kind: 'version-miscounted', subject, message })
}
