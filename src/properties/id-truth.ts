import type { EventOf } from '../engine/history.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: the id is how a producer says "this job, once". The same id with the same kind and input is the same job,
 * and whoever asks again is told so; with another kind or input it is a mistake, and whoever makes it is told
 * that, before anything is stored. (Contract 0.17.)
 *
 * Blind spot: kinds and inputs are compared as they were when the job was first inserted; inputs as digests.
 */
interface State {
  readonly jobs: Map<string, { readonly kind: string; readonly input: number }>
  /** Jobs that some producer was told to have created. */
  readonly created: Set<string>
}

export const idTruth: Property = property({
  name: 'id-truth',
  kind: 'always',
  says: 'An id names one job: the same kind and input again is that job, another is refused, and one producer at most has created it.',
  blindSpot: 'Inputs are compared as digests of 32 bits.',
  on: ['job.inserted', 'insert.refused', 'enqueue.acknowledged', 'job.removed'],
  suspendedBy: [],
  recalls: 'all',
  start: (): State => ({ jobs: new Map(), created: new Set() }),
  step({ jobs, created }, event, verdict) {
    if (event.type === 'job.removed') {
      // Its id names nothing any more.
      jobs.delete(event.job)
      created.delete(event.job)
      return
    }
    const known = jobs.get(event.job)
    if (event.type === 'enqueue.acknowledged') return acknowledged(created, event, verdict)
    if (event.type === 'job.inserted' && !known) {
      jobs.set(event.job, { kind: event.kind, input: event.input })
      if (event.created) return
      verdict.evaluated()
      const message = `job ${event.job} was new, and its producer was told that it had been there`
      return verdict.violated({ kind: 'new-job-denied', subject: event.job, message })
    }
    verdict.evaluated()
    const same = known?.kind === event.kind && known.input === event.input
    if (event.type === 'job.inserted' && !same) {
      const message = `job ${event.job} was enqueued with another kind or input than it has, and nobody was told`
      verdict.violated({ kind: 'conflict-unnoticed', subject: event.job, message })
    } else if (event.type === 'insert.refused' && (same || !known)) {
      const message = `job ${event.job} was refused, though ${known ? 'it is the one that is there' : 'there is none of its id'}`
      verdict.violated({ kind: 'refused-without-conflict', subject: event.job, message })
    }
  },
})

function acknowledged(
  all: State['created'],
  { job, created }: EventOf<'enqueue.acknowledged'>,
  verdict: Verdict,
): void {
  if (!created) return
  if (all.has(job)) {
    const message = `two producers were told that they had created job ${job}`
    verdict.violated({ kind: 'created-twice', subject: job, message })
  }
  verdict.evaluated()
  all.add(job)
}
