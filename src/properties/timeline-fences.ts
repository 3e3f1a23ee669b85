import type { EventOf } from '../engine/history.ts'
import { type Timeline, begins, firstOf, newTimeline } from './model/timeline.ts'
import { nameOf } from './model/who.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a database that is restored from a backup gives out again what it gave out in the time that is lost, fencing
 * tokens too. A worker that slept through it would write under one that is another's now. So once the operator has said
 * that it was restored, nothing that an attempt from before writes applies, and no epoch is one that there was before:
 * all of them are beyond where the timeline begins. Until then nothing is claimed, and from then on everything may be.
 * (Contract 0.13; decision 24.)
 *
 * A settle that applied before the backup was made may be confirmed to whoever repeats it: that writes nothing.
 *
 * Blind spot: named leases have no timeline; those of the backup lapse by themselves.
 */
interface State {
  readonly timeline: Timeline
  /** At which epoch the last settle of each job applied. */
  readonly done: Map<string, number>
  /** The highest epoch of each job that was ever given out, in the time that is lost, too. */
  readonly given: Map<string, number>
  /** It was restored, and nobody has said so. */
  untold: boolean
  /** Somebody has just said so: what he is told next is that hold is lifted. */
  lifts: boolean
}

export const timelineFences: Property = property({
  name: 'timeline-fences',
  kind: 'always',
  says: 'After a restore from a backup nothing is claimed until the operator has said so; from then on nothing from before writes, and no epoch comes again.',
  blindSpot: 'Named leases have no timeline, and are not looked at.',
  on: [
    'database.restored',
    'timeline.began',
    'control.changed',
    'job.claimed',
    'claim.recovered',
    'lease.renewed',
    'job.settled',
    'job.noted',
    'log.appended',
    'effect.committed',
    'job.removed',
  ],
  suspendedBy: [],
  recalls: ['timeline', 'done'],
  needs: ['database-restored'],
  after: ['timeline.began'],
  start: (): State => ({
    timeline: newTimeline(),
    done: new Map(),
    given: new Map(),
    untold: false,
    lifts: false,
  }),
  step(state, event, verdict) {
    switch (event.type) {
      case 'database.restored':
        state.untold = true
        return
      case 'timeline.began':
        return began(state, event, verdict)
      case 'control.changed':
        return lifted(state, event, verdict)
      case 'job.removed':
        // Another may come by its id, and begins anew.
        state.given.delete(event.job)
        return void state.done.delete(event.job)
      case 'job.claimed':
        return claimed(state, event, verdict)
      case 'job.settled':
        if (event.settled !== 'applied') return
        if (!event.repeated || state.done.get(event.job) !== event.epoch) wrote(state, event, verdict)
        return void state.done.set(event.job, event.epoch)
      case 'job.noted':
      case 'log.appended':
        return event.applied ? wrote(state, event, verdict) : undefined
      default:
        return wrote(state, event, verdict)
    }
  },
})

function began(state: State, event: EventOf<'timeline.began'>, verdict: Verdict): void {
  const { timeline } = state
  const before = timeline.first
  verdict.evaluated()
  state.untold = false
  const anew = begins(timeline, event)
  state.lifts = anew
  if (anew && timeline.first > before) return
  const subject = nameOf(event)
  if (anew) {
    const message = `timeline ${event.timeline} began, and is no later than the one before`
    return verdict.violated({ kind: 'timeline-again', subject, message })
  }
  if (firstOf(event) === before) return
  const message = `timeline ${event.timeline} began by the repeat of a call that had begun another`
  verdict.violated({ kind: 'repeat-began-another', subject, message })
}

function lifted(state: State, event: EventOf<'control.changed'>, verdict: Verdict): void {
  if (!state.lifts) return
  state.lifts = false
  verdict.evaluated()
  if (!event.hold) return
  const message = 'the operator has said that the database was restored, and nothing may be claimed even so'
  verdict.violated({ kind: 'still-held', subject: nameOf(event), message })
}

function claimed(state: State, event: EventOf<'job.claimed'>, verdict: Verdict): void {
  const { timeline, given, untold } = state
  const { job, epoch } = event
  const before = given.get(job) ?? -1
  given.set(job, Math.max(before, epoch))
  if (timeline.first === 0 && !untold) return
  verdict.evaluated()
  const violated = (kind: string, why: string): void =>
    verdict.violated({
      kind,
      subject: job,
      message: `${nameOf(event)} claimed job ${job} at epoch ${epoch}, ${why}`,
    })
  if (untold) violated('claimed-untold', 'and nobody has said yet that the database was restored')
  else if (epoch <= timeline.first)
    violated('epoch-of-before', `and its timeline begins at ${timeline.first}`)
  else if (epoch <= before) violated('epoch-again', `and epoch ${before} was given out before`)
}

type Write = EventOf<
  'claim.recovered' | 'lease.renewed' | 'job.settled' | 'job.noted' | 'log.appended' | 'effect.committed'
>

/** None that runs now has such an epoch. */
function wrote({ timeline: { first } }: State, event: Write, verdict: Verdict): void {
  if (first === 0) return
  verdict.evaluated()
  const { type, job, epoch } = event
  if (epoch > first) return
  const message = `${type} of job ${job} by ${nameOf(event)} at epoch ${epoch} applied, and the timeline begins at ${first}`
  verdict.violated({ kind: 'write-from-before', subject: job, message })
}
