import type { EventOf } from '../engine/history.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: an acknowledged job is a promise, and so is one that was inserted though nobody heard of it: its
 * producer will ask again under the same id. (Contract 0.17, 1.11.)
 *
 * And it is told the truth: who sent it once, and never had to send it again, has created it.
 *
 * Blind spot: it asks whether the row is there in the end, not whether its content is intact.
 */
interface Expected {
  inserted: boolean
  acknowledged: boolean
  removed: boolean
}

type State = Map<string, Expected>

export const noLostJob: Property = property({
  name: 'no-lost-job',
  kind: 'eventually',
  says: 'Every job that was inserted or acknowledged is there in the end, unless it was removed after its end, and no other.',
  blindSpot: 'The content of the row is not compared with what was enqueued.',
  on: ['job.inserted', 'enqueue.acknowledged', 'job.removed', 'job.final', 'run.ended'],
  suspendedBy: [],
  recalls: 'all',
  start: (): State => new Map(),
  step(expected, event, verdict) {
    switch (event.type) {
      case 'job.inserted':
        expect(expected, event.job).inserted = true
        return
      case 'enqueue.acknowledged':
        if (!expect(expected, event.job).acknowledged) told(event, verdict)
        expect(expected, event.job).acknowledged = true
        return
      case 'job.removed':
        // Whoever asked for it may be answered later.
        expect(expected, event.job).inserted = false
        expect(expected, event.job).removed = true
        return
      case 'job.final': {
        verdict.evaluated()
        const inserted = expected.get(event.job)?.inserted ?? false
        expected.delete(event.job)
        if (inserted) return
        const message = `job ${event.job} is in the store, but nobody inserted it`
        return verdict.violated({ kind: 'never-inserted', subject: event.job, message })
      }
      case 'run.ended':
        for (const [job, { acknowledged, inserted, removed }] of expected) {
          verdict.evaluated()
          if (removed && !inserted) continue
          const kind = acknowledged ? 'acknowledged-job-lost' : 'inserted-job-lost'
          const was = inserted
            ? acknowledged
              ? 'acknowledged'
              : 'inserted'
            : 'acknowledged, was never inserted'
          const message = `job ${job} was ${was}, and is not in the store`
          verdict.violated({ kind, subject: job, message })
        }
        expected.clear()
    }
  },
})

function told({ job, created, tries }: EventOf<'enqueue.acknowledged'>, verdict: Verdict): void {
  if (tries > 1) return
  verdict.evaluated()
  if (created) return
  const message = `job ${job} was enqueued once, and its producer was told that it had been there before`
  verdict.violated({ kind: 'own-job-denied', subject: job, message })
}

function expect(expected: State, job: string): Expected {
  let known = expected.get(job)
  if (!known) expected.set(job, (known = { inserted: false, acknowledged: false, removed: false }))
  return known
}
