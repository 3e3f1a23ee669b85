import type { EventOf } from '../engine/history.ts'
import { type Sweepers, newSweepers, note, soundSince, sweeperEvents } from './model/sweepers.ts'
import { type Timeline, begins, newTimeline } from './model/timeline.ts'
import { instant, span } from './model/when.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: beside lapsed leases, sweeps look after what nobody else does, at every sixth turn: attempts whose worker
 * renews them and does not end them, jobs whose producer died before it gave them their place, claim rows that no
 * job bears any more. A sweep that forgets one of these is missed by nobody for a long time. (Contract 0.6, 0.10,
 * 0.11, 10.3.)
 *
 * Each is due by the database's clock: an attempt `timeoutMs + leaseTtlMs` after its claim, once the watch has
 * seen that much; a job a minute after it was created, and not before; a claim row once its last job is gone. It
 * is done within seven turns of somebody who sweeps without a hitch.
 *
 * Blind spot: claim rows are counted once, at the end.
 */
interface Running {
  readonly epoch: number
  readonly token: string
  readonly boundMs: number
  /** By the database's clock. */
  readonly claimedMs: number
}

interface State {
  readonly sweepers: Sweepers
  /** By the database's clock. */
  restartedMs: number
  readonly timeoutMs: Map<string, number>
  readonly running: Map<string, Running>
  /** When they were created, by the database's clock. */
  readonly forgotten: Map<string, number>
  /** Running jobs by claim, and when it lost its last. */
  readonly claims: Map<string, { jobs: number; spentAtMs: number }>
  readonly timeline: Timeline
}

const turns = 7
const undispatchedMs = 60_000

export const sweepsInTime: Property = property({
  name: 'sweeps-in-time',
  kind: 'always',
  says: 'Overdue attempts are ended, jobs without a place are given one, and spent claim rows are removed, within seven sweeps.',
  blindSpot: 'Claim rows are counted once, at the end.',
  on: [
    ...sweeperEvents,
    'job.inserted',
    'job.dispatched',
    'job.cancelRequested',
    'job.commanded',
    'job.claimed',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'timeline.began',
    'run.ended',
  ],
  suspendedBy: [],
  recalls: ['timeoutMs', 'forgotten', 'timeline'],
  forgets: ['running', 'claims'],
  start: (): State => ({
    sweepers: newSweepers(),
    restartedMs: 0,
    timeoutMs: new Map(),
    running: new Map(),
    forgotten: new Map(),
    claims: new Map(),
    timeline: newTimeline(),
  }),
  step(state, event, verdict) {
    const { sweepers, forgotten } = state
    switch (event.type) {
      case 'job.inserted':
        return inserted(state, event)
      case 'job.dispatched':
        return dispatched(state, event, verdict)
      case 'job.cancelRequested':
        if (event.kind === 'cancelled') forgotten.delete(event.job)
        return
      case 'job.commanded':
        if (event.applied) forgotten.delete(event.job)
        return
      case 'job.claimed':
        return claimed(state, event)
      case 'job.settled':
        if (event.settled === 'applied') left(state, event.job, event.epoch, event.atMs)
        return
      case 'job.timedOut':
        verdict.evaluated()
        return left(state, event.job, event.epoch - 1, event.atMs)
      case 'job.reclaimed':
        return left(state, event.job, event.epoch - 1, event.atMs)
      case 'timeline.began':
        // Whatever ran is taken back, and all claims go.
        if (!begins(state.timeline, event)) return
        state.running.clear()
        state.claims.clear()
        // Of what waits for its place, each write puts off the time at which it was to have had it.
        for (const job of forgotten.keys()) forgotten.set(job, event.atMs + sweepers.clock.aheadMs)
        return
      case 'run.ended':
        return judgeClaims(state, event, verdict)
      case 'watch.moved':
        note(sweepers, event)
        if (event.kind === 'restarted') state.restartedMs = event.atMs + sweepers.clock.aheadMs
        return judgeOverdue(state, event.atMs, verdict)
      default:
        note(sweepers, event)
    }
  },
})

function inserted({ sweepers, timeoutMs, forgotten }: State, event: EventOf<'job.inserted'>): void {
  const { job, undispatched, atMs } = event
  if (timeoutMs.has(job)) return
  timeoutMs.set(job, event.timeoutMs)
  if (undispatched) forgotten.set(job, atMs + sweepers.clock.aheadMs)
}

function dispatched(
  { sweepers, forgotten }: State,
  event: EventOf<'job.dispatched'>,
  verdict: Verdict,
): void {
  const { job, atMs } = event
  const createdMs = forgotten.get(job)
  forgotten.delete(job)
  verdict.evaluated()
  const forMs = createdMs === undefined ? null : atMs + sweepers.clock.aheadMs - createdMs
  if (forMs !== null && forMs >= undispatchedMs) return
  const message =
    forMs === null
      ? `job ${job} was given a place that it had, or had no more use for`
      : `job ${job} was given its place ${span(forMs)} after it was created; its producer has ${span(undispatchedMs)}`
  verdict.violated({ kind: 'dispatched-unasked', subject: job, message })
}

function claimed({ sweepers, timeoutMs, running, claims }: State, event: EventOf<'job.claimed'>): void {
  const { job, epoch, token, leaseTtlMs, atMs } = event
  const boundMs = (timeoutMs.get(job) ?? Number.POSITIVE_INFINITY) + leaseTtlMs
  running.set(job, { epoch, token, boundMs, claimedMs: atMs + sweepers.clock.aheadMs })
  const claim = claims.get(token)
  if (claim) claim.jobs += 1
  else claims.set(token, { jobs: 1, spentAtMs: Number.POSITIVE_INFINITY })
}

function left({ running, claims }: State, job: string, epoch: number, atMs: number): void {
  const was = running.get(job)
  if (was?.epoch !== epoch) return
  running.delete(job)
  const claim = claims.get(was.token)
  if (!claim) return
  claim.jobs -= 1
  if (claim.jobs === 0) claim.spentAtMs = atMs
}

/** When what is due at `dueMs` must have been done; null while nobody can be asked. */
function deadlineMs(sweepers: Sweepers, dueMs: number): number | null {
  const soundMs = soundSince(sweepers)
  if (sweepers.down || soundMs === null) return null
  return Math.max(dueMs, soundMs) + turns * sweepers.sweepMs + sweepers.storeCallMs
}

function judgeOverdue(state: State, atMs: number, verdict: Verdict): void {
  const { sweepers, restartedMs, running, forgotten } = state
  const { aheadMs } = sweepers.clock
  for (const [job, { claimedMs, boundMs }] of running) {
    if (claimedMs + boundMs - aheadMs > atMs) continue
    const byMs = deadlineMs(sweepers, Math.max(claimedMs, restartedMs) + boundMs - aheadMs)
    if (byMs === null || atMs <= byMs) continue
    running.delete(job)
    verdict.evaluated()
    const message = `the attempt of job ${job} was to be ended by a sweep by ${instant(byMs)}, and was not at ${instant(atMs)}`
    verdict.violated({ kind: 'attempt-overdue', subject: job, message })
  }
  for (const [job, createdMs] of forgotten) {
    const byMs = deadlineMs(sweepers, createdMs + undispatchedMs - aheadMs)
    if (byMs === null || atMs <= byMs) continue
    forgotten.delete(job)
    verdict.evaluated()
    const message = `job ${job} was to have its place by ${instant(byMs)}, and had not at ${instant(atMs)}`
    verdict.violated({ kind: 'left-without-a-place', subject: job, message })
  }
}

function judgeClaims({ sweepers, claims }: State, event: EventOf<'run.ended'>, verdict: Verdict): void {
  for (const token of event.tokens) {
    const spentAtMs = claims.get(token)?.spentAtMs ?? Number.POSITIVE_INFINITY
    verdict.evaluated()
    const byMs = deadlineMs(sweepers, spentAtMs)
    if (byMs === null || event.atMs <= byMs) continue
    const message = `the row of claim ${token} is still there, and no job has borne it since ${instant(spentAtMs)}`
    return verdict.violated({ kind: 'claim-row-left', subject: token, message })
  }
}
