import type { EventOf } from '../engine/history.ts'
import { type Retries, startsAnew } from './model/retries.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: whoever read that a job succeeded acts on it. The first committed terminal state wins, and nothing
 * moves the job afterwards, except an operator's retry of one that failed or was cancelled. (Contract 0.15.)
 *
 * Blind spot: the state alone is compared. A result that is overwritten under the same state is not seen.
 */
type JobState = EventOf<'job.final'>['state']
interface State {
  readonly ended: Map<string, JobState>
  readonly retries: Retries
}

export const singleTerminalState: Property = property({
  name: 'single-terminal-state',
  kind: 'always',
  says: 'A job that ended stays as it is until an operator retries it: nothing else moves it again.',
  blindSpot: 'A result that changes under an unchanged state is not seen.',
  on: [
    'job.claimed',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.takenBack',
    'job.cancelRequested',
    'job.commanded',
    'job.removed',
    'job.final',
  ],
  suspendedBy: [],
  recalls: 'all',
  start: (): State => ({ ended: new Map(), retries: new Map() }),
  step({ ended, retries }, event, verdict) {
    const end = ended.get(event.job)
    if (event.type === 'job.removed') return void ended.delete(event.job)
    if (event.type === 'job.final') {
      ended.delete(event.job)
      return final(end, event, verdict)
    }
    if (event.type === 'job.cancelRequested') return cancelled(ended, event, verdict)
    if (event.type === 'job.commanded') {
      if (startsAnew(retries, event)) retried(ended, event, verdict)
      return
    }
    if (end !== undefined) return after(end, event, verdict)
    if (event.type === 'job.claimed') return
    if (event.type === 'job.settled' && event.settled !== 'applied') return
    if (event.state !== null && isTerminal(event.state)) ended.set(event.job, event.state)
  },
})

/** A cancel of one that is cancelled says so again. */
function cancelled(
  ended: State['ended'],
  { job, kind }: EventOf<'job.cancelRequested'>,
  verdict: Verdict,
): void {
  const end = ended.get(job)
  if (end === undefined) {
    if (kind === 'cancelled') ended.set(job, 'cancelled')
    return
  }
  verdict.evaluated()
  if (end === 'cancelled' && kind === 'cancelled') return
  const message = `a cancel of job ${job}, which had ${end}, was answered ${kind}`
  verdict.violated({ kind: 'cancelled-after-the-end', subject: job, message })
}

function retried(ended: State['ended'], { job }: EventOf<'job.commanded'>, verdict: Verdict): void {
  const end = ended.get(job)
  ended.delete(job)
  verdict.evaluated()
  if (end === 'failed' || end === 'cancelled') return
  const message = `a retry started job ${job} anew, which ${end === undefined ? 'had not ended' : `had ${end}`}`
  verdict.violated({ kind: 'retried-unended', subject: job, message })
}

type Move = EventOf<`job.${'claimed' | 'settled' | 'reclaimed' | 'timedOut' | 'takenBack'}`>

function after(end: JobState, event: Move, verdict: Verdict): void {
  verdict.evaluated()
  const { job } = event
  if (event.type !== 'job.settled' || (event.settled === 'applied' && !event.repeated)) {
    const message = `${event.type} of job ${job} at epoch ${event.epoch}, after it had ${end}`
    verdict.violated({ kind: 'moved-after-the-end', subject: job, message })
  } else if (event.state !== null && event.state !== end) {
    const message = `job ${job} had ${end}, and was found ${event.state} later`
    verdict.violated({ kind: 'state-changed', subject: job, message })
  }
}

function final(end: JobState | undefined, { job, state }: EventOf<'job.final'>, verdict: Verdict): void {
  if (end === undefined && !isTerminal(state)) return
  verdict.evaluated()
  if (end === state) return
  const kind = end === undefined ? 'ended-unseen' : 'final-disagrees'
  const message = `job ${job} is ${state} in the end, but its history says ${end ?? 'that it never ended'}`
  verdict.violated({ kind, subject: job, message })
}

function isTerminal(state: JobState): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'cancelled'
}
