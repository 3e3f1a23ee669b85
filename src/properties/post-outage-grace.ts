import type { EventOf } from '../engine/history.ts'
import { mustKeepLease } from './model/health.ts'
import { span } from './model/when.ts'
import { type Who, isSame, nameOf } from './model/who.ts'
import { type World, newWorld, note, worldEvents } from './model/world.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: when the database was away, every lease lapsed and nobody is to blame. Whoever takes jobs back at
 * that moment evicts the whole fleet. (Contract 0.20, 0.21.)
 *
 * The database must have been up for the job's TTL, by its own clock, counted from the last outage that the watch cannot have
 * missed: one of up to two sweeps may fall between two moves of it, and is no gap, because the margin of
 * contract 0.3 lets a live worker renew across it. That a live worker then does keep its lease, through any
 * outage, is the second kind; see `mustKeepLease` for the one exemption.
 *
 * Blind spot: a holder that any fault touched within two TTLs is not vouched for, also where that fault
 * could not have cost it the lease.
 */
interface Lease extends Who {
  readonly leaseTtlMs: number
  renewedAtMs: number
}

interface State {
  readonly world: World
  readonly leases: Map<string, Lease>
}

export const postOutageGrace: Property = property({
  name: 'post-outage-grace',
  kind: 'always',
  says: 'Nothing is taken back before the database was up for the TTL of its lease, and never from a live worker.',
  blindSpot: 'A holder that any fault touched within two TTLs is not vouched for.',
  on: [
    ...worldEvents,
    'job.claimed',
    'lease.renewed',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.takenBack',
  ],
  suspendedBy: [],
  forgets: ['leases'],
  needs: ['crash', 'pause'],
  start: (): State => ({ world: newWorld(), leases: new Map() }),
  step({ world, leases }, event, verdict) {
    switch (event.type) {
      case 'job.claimed': {
        const { node, incarnation, leaseTtlMs, atMs } = event
        leases.set(event.job, { node, incarnation, leaseTtlMs, renewedAtMs: atMs })
        return
      }
      case 'lease.renewed': {
        const lease = leases.get(event.job)
        if (lease && isSame(lease, event)) renewed(world, lease, event.atMs, verdict)
        return
      }
      case 'job.reclaimed': {
        const lease = leases.get(event.job)
        leases.delete(event.job)
        if (lease) reclaimed(world, lease, event, verdict)
        return
      }
      case 'job.takenBack':
        leases.delete(event.job)
        return
      case 'job.settled':
        if (event.settled === 'applied' && event.state !== 'running') leases.delete(event.job)
        return
      case 'job.timedOut': {
        const lease = leases.get(event.job)
        leases.delete(event.job)
        if (lease) judgeGrace(world, lease, event, verdict)
        return
      }
      default:
        note(world, event)
    }
  },
})

/** A lease that was held before an outage and is renewed after it: here the promise was kept. */
function renewed(world: World, lease: Lease, atMs: number, verdict: Verdict): void {
  const across = lease.renewedAtMs < world.noticedUpAtMs
  lease.renewedAtMs = atMs
  if (across && mustKeepLease(world, lease, lease.leaseTtlMs, atMs)) verdict.evaluated()
}

function reclaimed(world: World, lease: Lease, event: EventOf<'job.reclaimed'>, verdict: Verdict): void {
  judgeGrace(world, lease, event, verdict)
  const { job, atMs } = event
  if (!mustKeepLease(world, lease, lease.leaseTtlMs, atMs)) return
  verdict.evaluated()
  const forMs = atMs - lease.renewedAtMs
  const message = `job ${job} was taken from ${nameOf(lease)}, which was well; its lease had not been renewed for ${span(forMs)}`
  verdict.violated({ kind: 'live-worker-evicted', subject: job, message })
}

/** The timeout backstop stands under the same watch, so that an outage charges nobody (contract 0.6). */
function judgeGrace(
  world: World,
  { leaseTtlMs }: Lease,
  { type, job, atMs }: EventOf<'job.reclaimed' | 'job.timedOut'>,
  verdict: Verdict,
): void {
  verdict.evaluated()
  // What landed in the very instant in which the database went away was judged while it was up.
  const upMs =
    world.downAtMs === null || world.downAtMs === atMs ? atMs - world.noticedUpAtMs + world.wonMs : 0
  if (upMs >= leaseTtlMs) return
  const kind = type === 'job.reclaimed' ? 'reclaimed-in-grace' : 'timed-out-in-grace'
  const message = `${type} of job ${job} when the database had been up for ${span(upMs)} of ${span(leaseTtlMs)}`
  verdict.violated({ kind, subject: job, message })
}
