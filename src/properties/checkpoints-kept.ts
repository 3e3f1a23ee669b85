import type { EventOf } from '../engine/history.ts'
import { type Holds, holdEvents, isHolder, noteHold } from './model/holds.ts'
import { nameOf } from './model/who.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a retry goes on from what the attempt before it kept. If that was lost, work is done twice; if a worker
 * that was taken for dead can still write it, the new attempt goes on from what is not true. (Contract 0.13,
 * 0.24.)
 *
 * Blind spot: what a handler makes of what it reads.
 */
interface State {
  readonly holds: Holds
  /** Digests by key. */
  readonly kept: Map<string, Map<string, number>>
}

export const checkpointsKept: Property = property({
  name: 'checkpoints-kept',
  kind: 'always',
  says: 'Only the holder of the current epoch writes checkpoints and progress, and what it kept is what is read.',
  blindSpot: 'What a handler makes of its checkpoints is not seen.',
  on: [...holdEvents, 'job.noted', 'job.recalled'],
  suspendedBy: [],
  recalls: 'all',
  after: ['job.noted'],
  start: (): State => ({ holds: new Map(), kept: new Map() }),
  step({ holds, kept }, event, verdict) {
    if (event.type === 'job.noted') return noted(holds, kept, event, verdict)
    if (event.type === 'job.recalled') return recalled(kept, event, verdict)
    // What was kept for a job is gone with it.
    if (event.type === 'job.removed') kept.delete(event.job)
    noteHold(holds, event)
  },
})

function noted(holds: Holds, kept: State['kept'], event: EventOf<'job.noted'>, verdict: Verdict): void {
  const { job, epoch, what, key, value, applied } = event
  verdict.evaluated()
  if (applied !== isHolder(holds.get(job), event)) {
    const kind = applied ? 'unfenced-note' : 'holder-refused'
    const says = applied
      ? 'was taken, though it does not hold the job'
      : 'was refused, though it holds the job'
    const message = `a ${what} of job ${job} by ${nameOf(event)} at epoch ${epoch} ${says}`
    verdict.violated({ kind, subject: job, message })
  }
  if (!applied || what !== 'checkpoint') return
  let entries = kept.get(job)
  if (!entries) kept.set(job, (entries = new Map()))
  entries.set(key, value)
}

function recalled(kept: State['kept'], { job, entries }: EventOf<'job.recalled'>, verdict: Verdict): void {
  verdict.evaluated()
  const own = kept.get(job)
  const same =
    entries.length === (own?.size ?? 0) && entries.every(({ key, value }) => own?.get(key) === value)
  if (same) return
  const message = `the checkpoints of job ${job} were read as ${entries.length}, and are not the ${own?.size ?? 0} that were kept`
  verdict.violated({ kind: 'checkpoint-lost', subject: job, message })
}
