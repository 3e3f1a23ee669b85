import type { EventOf } from '../engine/history.ts'
import { type Holds, holdEvents, isHolder, noteHold } from './model/holds.ts'
import { nameOf } from './model/who.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: what a handler writes in the transaction that ends its attempt is there exactly if the job succeeded, and once.
 * A transaction that is sent again, or settled apart, or believed to have been committed breaks that, and nobody
 * notices until the money is counted. (Contract 0.15, 0.17; cases E09.)
 *
 * Blind spot: it is told of what was written by the simulated wire, which takes the store's word for what was undone;
 * that a store undoes its rows is tested on the real ones.
 */
interface State {
  readonly holds: Holds
  /** Of each job, at which epoch. */
  readonly effects: Map<string, number>
  /** Attempts that ended otherwise, by job and epoch. */
  readonly given: Set<string>
}

export const effectOnce: Property = property({
  name: 'effect-once',
  kind: 'always',
  says: 'What a handler commits with its success is kept exactly once, by the holder, iff the job succeeded, and it is told so.',
  blindSpot: 'That a store undoes the rows of what it says was rolled back is not seen here.',
  on: [...holdEvents, 'effect.committed', 'attempt.committed', 'attempt.ended', 'attempt.lost', 'job.final'],
  suspendedBy: [],
  recalls: ['holds', 'effects'],
  after: ['effect.committed'],
  start: (): State => ({ holds: new Map(), effects: new Map(), given: new Set() }),
  step(state, event, verdict) {
    switch (event.type) {
      case 'effect.committed':
        return kept(state, event, verdict)
      case 'attempt.committed':
        return told(state, event, verdict)
      case 'attempt.ended':
        if (event.end === 'succeeded') return
        return denied(state, event, verdict)
      case 'attempt.lost':
        return denied(state, event, verdict)
      case 'job.final':
        return final(state, event, verdict)
      case 'job.removed':
        state.effects.delete(event.job)
        return noteHold(state.holds, event)
      default:
        noteHold(state.holds, event)
    }
  },
})

function kept({ holds, effects, given }: State, event: EventOf<'effect.committed'>, verdict: Verdict): void {
  const { job, epoch } = event
  verdict.evaluated()
  const violated = (kind: string, says: string): void =>
    verdict.violated({
      kind,
      subject: job,
      message: `what job ${job} wrote at epoch ${epoch} was kept, ${says}`,
    })
  const before = effects.get(job)
  effects.set(job, epoch)
  if (before !== undefined) return violated('effect-twice', `as it was at epoch ${before} already`)
  if (!isHolder(holds.get(job), event))
    return violated('effect-unfenced', 'by one that does not hold the job')
  if (given.has(`${job} ${epoch}`)) violated('effect-after-end', 'after its attempt had ended without it')
}

function told({ effects }: State, event: EventOf<'attempt.committed'>, verdict: Verdict): void {
  const { job, epoch } = event
  verdict.evaluated()
  if (effects.get(job) === epoch) return
  const message = `${nameOf(event)} was told that what job ${job} wrote at epoch ${epoch} is kept; it is not`
  verdict.violated({ kind: 'effect-missing', subject: job, message })
}

function denied(
  { effects, given }: State,
  event: EventOf<'attempt.ended' | 'attempt.lost'>,
  verdict: Verdict,
): void {
  const { job, epoch } = event
  given.add(`${job} ${epoch}`)
  if (effects.get(job) !== epoch) return
  const message = `what job ${job} wrote at epoch ${epoch} was kept, but ${nameOf(event)} took its attempt for one that failed`
  verdict.violated({ kind: 'effect-denied', subject: job, message })
}

function final({ effects }: State, { job, state }: EventOf<'job.final'>, verdict: Verdict): void {
  if (!effects.has(job)) return
  verdict.evaluated()
  if (state === 'succeeded') return
  const message = `what job ${job} wrote was kept, but the job is ${state}`
  verdict.violated({ kind: 'effect-without-success', subject: job, message })
}
