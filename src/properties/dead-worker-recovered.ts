import type { EventOf } from '../engine/history.ts'
import {
  type Sweepers,
  isDead,
  knowsOfJump,
  newSweepers,
  note,
  soundSince,
  sweeperEvents,
} from './model/sweepers.ts'
import { instant } from './model/when.ts'
import { type Who, nameOf } from './model/who.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a job of a dead worker must come back by itself, and soon: within its TTL, a sweep and a store call
 * (contract 0.20). What may move that deadline, and nothing else:
 * - the death, or the last claim or renewal of it that landed (also after the death): the lease counts
 *   from there;
 * - the outage watch began anew, or an outage ended (plus the sweep that notices it): grace gives a whole
 *   TTL from there;
 * - the clock of the database went back: that shows as an expiry beyond the TTL and the largest jump that the
 *   watch may miss (two sweeps and a second) only until the clock has caught up; a smaller jump shows as
 *   nothing. Where grace lasts until then, and after the smaller one, the lease lapses by itself, later by as much;
 * - nobody has swept without a hitch for so long: crashed, asleep, or its sweep calls were lost. That moves
 *   the sweep, not the lease, so it adds no TTL.
 *
 * Its sister, `grace-without-end`: a watch that begins anew without a reason would put the deadline off for
 * ever. A clock that was set back is one. A sweeper that worked for three sweeps without a hitch, on a database that was up, has moved the
 * watch within the last two.
 *
 * Blind spot: a holder that is silent and not dead is not looked at.
 */
interface Held extends Who {
  readonly epoch: number
  readonly leaseTtlMs: number
  landedAtMs: number
  /** When its lease lapses by itself, by the database's clock. */
  expiresMs: number
  overdue: boolean
}

/** So far ahead may the watch be of the clock, and count as fresh. */
const aheadMsMax = 1_000

interface State {
  readonly sweepers: Sweepers
  readonly held: Map<string, Held>
  /** Jobs whose holder is dead; `landedAtMs` is then no earlier than the death. */
  readonly orphans: Map<string, Held>
}

const jobEvents = [
  'job.claimed',
  'claim.recovered',
  'lease.renewed',
  'job.settled',
  'job.reclaimed',
  'job.timedOut',
  'job.takenBack',
] as const

export const deadWorkerRecovered: Property = property({
  name: 'dead-worker-recovered',
  kind: 'always',
  says: 'A job of a dead worker is taken back within its TTL, a sweep and a store call; grace always ends.',
  blindSpot: 'A holder that is silent and not dead is not looked at.',
  on: [...sweeperEvents, ...jobEvents, 'run.ended'],
  suspendedBy: [],
  forgets: ['held', 'orphans'],
  needs: ['crash'],
  start: (): State => ({ sweepers: newSweepers(), held: new Map(), orphans: new Map() }),
  step(state, event, verdict) {
    switch (event.type) {
      case 'job.claimed':
        return claimed(state, event)
      case 'claim.recovered':
      case 'lease.renewed':
        return landed(state, state.held.get(event.job) ?? state.orphans.get(event.job), event)
      case 'job.settled':
        if (event.settled === 'applied' && event.state !== 'running')
          left(state, event.job, event.atMs, verdict)
        return
      case 'job.reclaimed':
      case 'job.timedOut':
      case 'job.takenBack':
        return left(state, event.job, event.atMs, verdict)
      case 'run.ended':
        return judgeOverdue(state, event.atMs, verdict)
      case 'watch.moved':
        if (event.kind === 'restarted') judgeRestart(state.sweepers, event, verdict)
        note(state.sweepers, event)
        return judgeOverdue(state, event.atMs, verdict)
      default:
        note(state.sweepers, event)
        if (event.type === 'node.crashed' || event.type === 'node.started') bury(state, event)
    }
  },
})

function claimed({ sweepers, held, orphans }: State, event: EventOf<'job.claimed'>): void {
  const { job, epoch, node, incarnation, leaseTtlMs, atMs } = event
  held.delete(job)
  orphans.delete(job)
  const jobs = isDead(sweepers, event) ? orphans : held
  const expiresMs = atMs + sweepers.clock.aheadMs + leaseTtlMs
  jobs.set(job, { epoch, node, incarnation, leaseTtlMs, landedAtMs: atMs, expiresMs, overdue: false })
}

function landed(
  { sweepers }: State,
  held: Held | undefined,
  { epoch, atMs }: EventOf<'claim.recovered' | 'lease.renewed'>,
): void {
  if (held?.epoch !== epoch) return
  held.landedAtMs = atMs
  held.expiresMs = atMs + sweepers.clock.aheadMs + held.leaseTtlMs
}

/** A death; a start of a later incarnation says the same of the earlier ones. */
function bury({ sweepers, held, orphans }: State, { atMs }: { readonly atMs: number }): void {
  for (const [job, hold] of held) {
    if (!isDead(sweepers, hold)) continue
    held.delete(job)
    orphans.set(job, hold)
    hold.landedAtMs = atMs
  }
}

function left({ sweepers, held, orphans }: State, job: string, atMs: number, verdict: Verdict): void {
  held.delete(job)
  const orphan = orphans.get(job)
  if (!orphan) return
  orphans.delete(job)
  verdict.evaluated()
  judge(sweepers, job, orphan, atMs, verdict)
}

function judgeOverdue({ sweepers, orphans }: State, atMs: number, verdict: Verdict): void {
  for (const [job, orphan] of orphans) judge(sweepers, job, orphan, atMs, verdict)
}

function judge(sweepers: Sweepers, job: string, orphan: Held, atMs: number, verdict: Verdict): void {
  const byMs = deadlineMs(sweepers, orphan)
  if (orphan.overdue || byMs === null || atMs <= byMs) return
  orphan.overdue = true
  verdict.evaluated()
  const message = `job ${job} of the dead ${nameOf(orphan)} was to be back by ${instant(byMs)}, and was not at ${instant(atMs)}`
  verdict.violated({ kind: 'not-recovered-in-time', subject: job, message })
}

/** Null while nothing can be asked of anybody: the database is down, or nobody sweeps. */
function deadlineMs(sweepers: Sweepers, { landedAtMs, expiresMs, leaseTtlMs }: Held): number | null {
  const { sweepMs, storeCallMs, down, upAtMs, clock, restartedAtMs } = sweepers
  const soundMs = soundSince(sweepers)
  if (down || soundMs === null) return null
  const upMs = upAtMs === null ? 0 : upAtMs + sweepMs
  const lapsedMs = Math.max(landedAtMs, restartedAtMs ?? 0, upMs) + leaseTtlMs
  const byMs = Math.max(lapsedMs, soundMs) + sweepMs + storeCallMs
  const ownMs = expiresMs - clock.aheadMs
  const setBackMsMax = 2 * sweepMs + aheadMsMax
  return byMs < ownMs - leaseTtlMs - setBackMsMax ? byMs : Math.max(byMs, ownMs + sweepMs + storeCallMs)
}

function judgeRestart(sweepers: Sweepers, { atMs, node }: EventOf<'watch.moved'>, verdict: Verdict): void {
  if (sweepers.restartedAtMs === null || knowsOfJump(sweepers, node)) return
  verdict.evaluated()
  const soundMs = soundSince(sweepers)
  if (soundMs === null || soundMs > atMs - 3 * sweepers.sweepMs) return
  const message = `the watch began anew at ${instant(atMs)}, though somebody has swept since ${instant(soundMs)} without a hitch`
  verdict.violated({ kind: 'grace-without-end', subject: node, message })
}
