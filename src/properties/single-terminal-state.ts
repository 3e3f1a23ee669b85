import type { EventOf } from '../engine/history.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: whoever read that a job succeeded acts on it. The first committed terminal state wins, and nothing
 * moves the job afterwards. (Contract 0.15.)
 *
 * Blind spot: the state alone is compared. A result that is overwritten under the same state is not seen.
 */
type JobState = EventOf<'job.final'>['state']
type State = Map<string, JobState>

export const singleTerminalState: Property = property({
  name: 'single-terminal-state',
  kind: 'always',
  says: 'A job that succeeded or failed stays as it is: no claim, settle, reclaim or timeout moves it again.',
  blindSpot: 'A result that changes under an unchanged state is not seen.',
  on: ['job.claimed', 'job.settled', 'job.reclaimed', 'job.timedOut', 'job.final'],
  suspendedBy: [],
  start: (): State => new Map(),
  step(ended, event, verdict) {
    const end = ended.get(event.job)
    if (event.type === 'job.final') {
      ended.delete(event.job)
      return final(end, event, verdict)
    }
    if (end !== undefined) return after(end, event, verdict)
    if (event.type === 'job.claimed') return
    if (event.type === 'job.settled' && event.settled !== 'applied') return
    if (event.state !== null && isTerminal(event.state)) ended.set(event.job, event.state)
  },
})

type Move = EventOf<'job.claimed' | 'job.settled' | 'job.reclaimed' | 'job.timedOut'>

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
  return state === 'succeeded' || state === 'failed'
}
