import type { EventOf } from '../engine/history.ts'
import { type DatabaseClock, jump, newClock } from './model/clock.ts'
import { type Retries, startsAnew } from './model/retries.ts'
import { span } from './model/when.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: what retention takes is gone. A job that waits, however old, is a promise; a dead letter is work that somebody
 * still has to look at; and what has ended is kept for as long as its producer asked for, by the time of the database.
 * A clock that is set forward makes things old, and that is accepted. (Contract 15, 27.70; case E24.)
 *
 * Blind spot: what hangs on a job (its checkpoints, its log) shows where it is read, not here.
 */
interface Kept {
  readonly keepMs: number
  /** By the clock of the database; null: it has not ended. */
  endedAtMs: number | null
  /** It failed for good, and nobody has looked at it. */
  dead: boolean
}

interface State {
  readonly clock: DatabaseClock
  deadLetterMs: number
  readonly jobs: Map<string, Kept>
  readonly retries: Retries
}

export const retentionTakesEndedOnly: Property = property({
  name: 'retention-takes-ended-only',
  kind: 'always',
  says: 'Only a job that has ended is ever removed, when it was kept for its time; an open dead letter when it was one for long enough.',
  blindSpot: 'What hangs on a job that stays is seen where it is read, not here.',
  on: [
    'run.started',
    'database.jumped',
    'job.inserted',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.takenBack',
    'job.cancelRequested',
    'job.commanded',
    'job.replayed',
    'job.discarded',
    'job.removed',
  ],
  suspendedBy: [],
  recalls: ['jobs', 'retries'],
  after: ['job.removed'],
  start: (): State => ({ clock: newClock(), deadLetterMs: 0, jobs: new Map(), retries: new Map() }),
  step(state, event, verdict) {
    switch (event.type) {
      case 'run.started':
        state.deadLetterMs = event.deadLetterMs ?? 0
        return
      case 'database.jumped':
        return jump(state.clock, event)
      case 'job.inserted':
        // Of one that is there, what it said first counts.
        if (!state.jobs.has(event.job))
          state.jobs.set(event.job, { keepMs: event.keepMs, endedAtMs: null, dead: false })
        return
      case 'job.commanded':
        return commanded(state, event)
      case 'job.replayed':
      case 'job.discarded':
        return seenTo(state, event.job)
      case 'job.removed':
        return removed(state, event, verdict)
      case 'job.cancelRequested':
        return event.kind === 'cancelled' ? ended(state, event, 'cancelled') : undefined
      case 'job.settled':
        return event.settled === 'applied' ? ended(state, event, event.state) : undefined
      default:
        return ended(state, event, event.state)
    }
  },
})

type End = EventOf<`job.${'settled' | 'reclaimed' | 'timedOut' | 'takenBack' | 'cancelRequested'}`>

/** The repeat of a settle says again how the job ended. */
function ended({ jobs, clock }: State, { job, atMs }: End, state: string | null): void {
  const kept = jobs.get(job)
  if (!kept || kept.endedAtMs !== null || state === 'queued' || state === 'running' || state === null) return
  kept.endedAtMs = atMs + clock.aheadMs
  kept.dead = state === 'failed'
}

function commanded({ jobs, retries }: State, event: EventOf<'job.commanded'>): void {
  const kept = jobs.get(event.job)
  if (kept && startsAnew(retries, event)) [kept.endedAtMs, kept.dead] = [null, false]
}

function seenTo({ jobs }: State, job: string): void {
  const kept = jobs.get(job)
  if (kept) kept.dead = false
}

function removed(
  { jobs, clock, deadLetterMs }: State,
  { job, atMs }: EventOf<'job.removed'>,
  verdict: Verdict,
): void {
  const kept = jobs.get(job)
  jobs.delete(job)
  verdict.evaluated()
  const violated = (kind: string, says: string): void =>
    verdict.violated({ kind, subject: job, message: `job ${job} was removed, ${says}` })
  if (!kept) return violated('removed-unknown', 'which nobody had inserted')
  if (kept.endedAtMs === null) return violated('removed-unended', 'which had not ended')
  const overMs = atMs + clock.aheadMs - kept.endedAtMs
  if (overMs < kept.keepMs) {
    violated(
      'removed-early',
      `${span(overMs)} after its end, when it was to be kept for ${span(kept.keepMs)}`,
    )
  } else if (kept.dead && overMs < deadLetterMs) {
    violated('dead-letter-removed', `an open dead letter, ${span(overMs)} after its end`)
  }
}
