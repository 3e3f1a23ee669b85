import type { EventOf } from '../engine/history.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: while a deploy goes on, or is taken back, two releases are on one store. What the newer one has added to a record
 * the older one does not know, and it writes that record, too: a heartbeat that writes it anew, a replay that copies the
 * fields it knows, or a schedule that is put at each start, and what the newer one had said is gone, without an error.
 * (Contract 0.19, 25.5, 27.56.)
 *
 * Blind spot: what is lost before it has come to the store for the first time, and of a record nothing but what a job
 * and a schedule state: of an error or of the progress of an attempt, the conformance suite says it.
 */
interface State {
  /** What was stated beyond this release of each job that has such members, as a digest. */
  readonly jobs: Map<string, number>
  /** The same of each schedule, and of what it says of its jobs. */
  readonly schedules: Map<string, { readonly beyond: number; readonly jobs: number }>
}

export const unknownMembersSurvive: Property = property({
  name: 'unknown-members-survive',
  kind: 'always',
  says: 'What a newer release has stated of a job or a schedule, and an older one does not know, is there at every later sight of it, and of what is made of it.',
  blindSpot:
    'What is lost before it has come to the store for the first time, and members of anything but what a job and a schedule state.',
  on: ['job.members', 'job.removed', 'schedule.members', 'schedule.removed'],
  suspendedBy: [],
  recalls: 'all',
  after: ['job.members', 'schedule.members'],
  start: (): State => ({ jobs: new Map(), schedules: new Map() }),
  step(state, event, verdict) {
    switch (event.type) {
      case 'job.members':
        return ofJob(state, event, verdict)
      case 'job.removed':
        return void state.jobs.delete(event.job)
      case 'schedule.members':
        return ofSchedule(state, event, verdict)
      case 'schedule.removed':
        if (event.removed) state.schedules.delete(event.key)
        return
    }
  },
})

function ofJob(state: State, event: EventOf<'job.members'>, verdict: Verdict): void {
  const { job, beyond, stated, replays, schedule } = event
  const madeOf = replays !== null || schedule !== null
  if (stated && !madeOf && !state.jobs.has(job)) {
    if (beyond !== 0) state.jobs.set(job, beyond)
    return
  }
  const expected = madeOf ? madeFrom(state, event) : (state.jobs.get(job) ?? 0)
  if (madeOf && expected !== 0) state.jobs.set(job, expected)
  if (expected === 0 && beyond === 0) return
  verdict.evaluated()
  if (beyond === expected) return
  const of =
    replays !== null ? `, which replays ${replays}` : schedule !== null ? `, of schedule ${schedule},` : ''
  lost(verdict, { subject: job, what: `job ${job}${of}`, beyond, expected, madeOf })
}

function madeFrom({ jobs, schedules }: State, { replays, schedule }: EventOf<'job.members'>): number {
  if (replays !== null) return jobs.get(replays) ?? 0
  return schedules.get(schedule ?? '')?.jobs ?? 0
}

/** A newer release may say something where nothing was; the older one only leaves it as it is. */
function ofSchedule(state: State, event: EventOf<'schedule.members'>, verdict: Verdict): void {
  const { key, beyond, jobs, stated } = event
  const before = state.schedules.get(key)
  if (stated && !before) {
    if (beyond !== 0 || jobs !== 0) state.schedules.set(key, { beyond, jobs })
    return
  }
  const expected = before ?? { beyond: 0, jobs: 0 }
  if (!before && beyond === 0 && jobs === 0) return
  verdict.evaluated()
  const what = `schedule ${key}`
  if (beyond !== expected.beyond) {
    lost(verdict, { subject: key, what, beyond, expected: expected.beyond, madeOf: false })
  }
  if (jobs === expected.jobs) return
  lost(verdict, {
    subject: key,
    what: `${what}, of its jobs,`,
    beyond: jobs,
    expected: expected.jobs,
    madeOf: false,
  })
}

interface Loss {
  readonly subject: string
  readonly what: string
  readonly beyond: number
  readonly expected: number
  readonly madeOf: boolean
}

function lost(verdict: Verdict, { subject, what, beyond, expected, madeOf }: Loss): void {
  const kind = expected === 0 ? 'of-nobody' : madeOf ? 'not-carried' : beyond === 0 ? 'lost' : 'changed'
  const how =
    expected === 0
      ? 'has members of a newer release that nobody stated'
      : beyond === 0
        ? 'has lost what a newer release stated'
        : 'does not have what a newer release stated, but something else'
  verdict.violated({ kind, subject, message: `${what} ${how}` })
}
