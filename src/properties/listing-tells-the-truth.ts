import type { EventOf } from '../engine/history.ts'
import { type Standings, newStandings, noteStanding, standingEvents } from './model/standing.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: who looks for a job among the pages of a list, and does not find it, concludes that it is not there, and
 * enqueues it again or gives it up; who acts on each job of a list acts twice on one that is in it twice. And who
 * watches the counts of queues takes nothing waiting for nothing to do. (Contract 12.4.)
 *
 * Pages that are read one after the other, while jobs come and end, hold each job exactly once that was there from
 * the first to the last, the newest first; counts are those of one instant.
 *
 * Blind spot: which of those that wait are due already is not compared; nor is what a list says of a job. Lists by
 * keys, tenant, time and state are the business of the conformance suite.
 */
interface State {
  readonly standings: Standings
  /** What each process that is listing was to find, from its first page on. */
  readonly open: Map<string, ReadonlySet<string>>
}

export const listingTellsTheTruth: Property = property({
  name: 'listing-tells-the-truth',
  kind: 'always',
  says: 'Pages read one after the other hold each job that was there all the time exactly once, the newest first, and counts are those of one instant.',
  blindSpot:
    'Which of those that wait are due, and what a list says of a job, is not compared; lists by keys, tenant, time and state are not looked at.',
  on: [...standingEvents, 'jobs.listing', 'jobs.listed', 'queues.counted'],
  suspendedBy: [],
  recalls: ['standings'],
  forgets: ['open'],
  after: ['jobs.listed', 'queues.counted'],
  start: (): State => ({ standings: newStandings(), open: new Map() }),
  step(state, event, verdict) {
    switch (event.type) {
      case 'jobs.listing':
        state.open.set(whoOf(event), new Set(jobsOf(state.standings, event.queue)))
        return
      case 'jobs.listed':
        return judgeList(state, event, verdict)
      case 'queues.counted':
        return judgeCounts(state, event, verdict)
      default:
        noteStanding(state.standings, event)
    }
  },
})

function whoOf({ node, incarnation }: EventOf<'jobs.listing' | 'jobs.listed'>): string {
  return `${node}#${incarnation}`
}

/** In the order of their insertion. */
function jobsOf({ jobs }: Standings, queue: string | null): string[] {
  return [...jobs].flatMap(([job, standing]) => (queue === null || standing.queue === queue ? [job] : []))
}

function judgeList({ standings, open }: State, event: EventOf<'jobs.listed'>, verdict: Verdict): void {
  const expected = open.get(whoOf(event))
  if (!expected) return
  open.delete(whoOf(event))
  verdict.evaluated()
  const { queue, jobs } = event
  const what = queue === null ? 'the list of all jobs' : `the list of queue ${queue}`
  const says = (kind: string, job: string, how: string): void =>
    verdict.violated({ kind, subject: job, message: `${what} ${how}` })
  const listed = new Set<string>()
  for (const job of jobs) {
    if (listed.has(job)) says('listed-twice', job, `has job ${job} twice`)
    listed.add(job)
  }
  for (const job of expected) {
    if (!listed.has(job)) says('not-listed', job, `lacks job ${job}, which was there all the time`)
  }
  const known = jobsOf(standings, queue)
  const stranger = jobs.find((job) => !known.includes(job))
  if (stranger !== undefined)
    return says('not-there', stranger, `has job ${stranger}, which does not belong there`)
  const inOrder = known.filter((job) => listed.has(job)).reverse()
  const astray = jobs.find((job, n) => inOrder[n] !== job)
  if (astray !== undefined && listed.size === jobs.length)
    says('out-of-order', astray, `has job ${astray} out of the order of insertion`)
}

type Counts = Record<'waiting' | 'undispatched' | 'running' | 'dead', number>

function judgeCounts({ standings }: State, { queues }: EventOf<'queues.counted'>, verdict: Verdict): void {
  verdict.evaluated()
  const known = new Map<string, Counts>()
  for (const { queue, state, placed, dead } of standings.jobs.values()) {
    const what =
      state === 'queued'
        ? placed
          ? 'waiting'
          : 'undispatched'
        : state === 'running'
          ? state
          : dead && 'dead'
    if (what === false) continue
    const counts = known.get(queue) ?? { waiting: 0, undispatched: 0, running: 0, dead: 0 }
    counts[what] += 1
    known.set(queue, counts)
  }
  for (const queue of new Set([...known.keys(), ...queues.map(({ queue }) => queue)])) {
    const is = known.get(queue) ?? { waiting: 0, undispatched: 0, running: 0, dead: 0 }
    const said = queues.find((counts) => counts.queue === queue)
    const told: Counts = {
      waiting: (said?.due ?? 0) + (said?.delayed ?? 0),
      undispatched: said?.undispatched ?? 0,
      running: said?.running ?? 0,
      dead: said?.dead ?? 0,
    }
    for (const what of ['waiting', 'undispatched', 'running', 'dead'] as const) {
      if (told[what] === is[what]) continue
      const message = `queue ${queue} is said to have ${told[what]} jobs ${what}, and has ${is[what]}`
      verdict.violated({ kind: `${what}-miscounted`, subject: queue, message })
    }
  }
}
