import type { EventOf } from '../engine/history.ts'
import { type Retries, startsAnew } from './model/retries.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a job that failed for good and lies nowhere is lost without a word; one that lies there though it was seen to is
 * done twice. It is a dead letter from the very write that fails it, whichever that is, to the one that retries,
 * replays or discards it. (Contract 0.5, 0.16, 16.5; E22.)
 *
 * Blind spot: it is judged where dead letters are listed, replayed or discarded, and at the end.
 */
interface State {
  /** Those there are. */
  readonly open: Set<string>
  /** Of each that failed for good the last epoch at which it did: the repeat of a settle says so again. */
  readonly failedAt: Map<string, number>
  readonly retries: Retries
}

export const deadLetterIffFailed: Property = property({
  name: 'dead-letter-iff-failed',
  kind: 'always',
  says: 'A job is a dead letter exactly from its failure for good until it is retried, replayed or discarded.',
  blindSpot: 'It is judged where dead letters are listed, replayed or discarded, and at the end.',
  on: [
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.commanded',
    'job.replayed',
    'replay.refused',
    'job.discarded',
    'discard.refused',
    'dead.listed',
    'job.removed',
    'job.final',
  ],
  suspendedBy: [],
  recalls: 'all',
  start: (): State => ({ open: new Set(), failedAt: new Map(), retries: new Map() }),
  step(state, event, verdict) {
    const { open } = state
    switch (event.type) {
      case 'job.settled':
      case 'job.reclaimed':
      case 'job.timedOut':
        return event.state === 'failed' ? failed(state, event) : undefined
      case 'job.commanded':
        if (startsAnew(state.retries, event)) open.delete(event.job)
        return
      case 'dead.listed':
        return listed(state, event, verdict)
      case 'replay.refused':
      case 'discard.refused':
        return refused(state, event, verdict)
      case 'job.replayed':
      case 'job.discarded':
        compare(event.applied, open.has(event.job), event.job, verdict)
        open.delete(event.job)
        return
      case 'job.removed':
        open.delete(event.job)
        return void state.failedAt.delete(event.job)
      case 'job.final':
        compare(event.dead, open.delete(event.job), event.job, verdict)
    }
  },
})

type End = EventOf<'job.settled' | 'job.reclaimed' | 'job.timedOut'>

function failed({ open, failedAt }: State, event: End): void {
  const { job, epoch } = event
  if (event.type === 'job.settled' && event.settled !== 'applied') return
  if (epoch <= (failedAt.get(job) ?? -1)) return
  failedAt.set(job, epoch)
  open.add(job)
}

function listed({ open }: State, { jobs, whole }: EventOf<'dead.listed'>, verdict: Verdict): void {
  const there = new Set(jobs)
  for (const job of jobs) compare(true, open.has(job), job, verdict)
  if (whole) for (const job of open) compare(there.has(job), true, job, verdict)
}

/** That it is no dead letter, or one that died too late for this; what else may be in the way is not for this property. */
function refused(
  { open }: State,
  event: EventOf<'replay.refused' | 'discard.refused'>,
  verdict: Verdict,
): void {
  if (event.type === 'replay.refused' && event.why === 'taken') return
  compare(event.type === 'replay.refused' && event.why === 'later', open.has(event.job), event.job, verdict)
}

function compare(is: boolean, expected: boolean, job: string, verdict: Verdict): void {
  verdict.evaluated()
  if (is === expected) return
  const [kind, message] = is
    ? ['no-longer-one', `job ${job} is a dead letter, though it did not fail for good, or was seen to since`]
    : ['failed-unseen', `job ${job} failed for good and was not seen to since, and is no dead letter`]
  verdict.violated({ kind, subject: job, message })
}
