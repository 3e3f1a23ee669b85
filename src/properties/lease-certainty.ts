import type { EventOf } from '../engine/history.ts'
import { driftMs, isPunctual } from './model/health.ts'
import { instant, span } from './model/when.ts'
import { type Who, isSame, nameOf } from './model/who.ts'
import { type World, newWorld, note, worldEvents } from './model/world.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: `leaseCertain` is what a handler asks before it does what must not be done twice. Whoever has it must
 * have had a claim or renewal land within the TTL: a worker counts from the sending, which was earlier still.
 * (Contract 0.21.)
 *
 * That a worker becomes uncertain *in time* is asked of one whose clock and event loop were well since the
 * lease last landed; that it never calls certain what cannot be is asked of all.
 *
 * A worker whose clock runs slow by 1 % counts its TTL for 1 % too long.
 *
 * Blind spot: a lease that lapsed because the database's clock jumped. Workers cannot know.
 */
interface Lease extends Who {
  readonly epoch: number
  readonly leaseTtlMs: number
  landedAtMs: number
  started: boolean
  certain: boolean
  ended: boolean
}

interface State {
  readonly world: World
  readonly leases: Map<string, Lease>
  /** Those of epochs that are over for the store, by job and epoch: their workers may not know it yet. */
  readonly lapsed: Map<string, Lease>
}

export const leaseCertainty: Property = property({
  name: 'lease-certainty',
  kind: 'always',
  says: 'A worker starts a job, or calls its lease certain, only within the TTL of the last claim or renewal that landed.',
  blindSpot: 'A lease that lapsed because the clock of the database jumped is not seen.',
  on: [
    ...worldEvents,
    'job.claimed',
    'claim.recovered',
    'lease.renewed',
    'attempt.started',
    'attempt.certain',
    'attempt.uncertain',
    'attempt.ended',
  ],
  suspendedBy: [],
  start: (): State => ({ world: newWorld(), leases: new Map(), lapsed: new Map() }),
  step({ world, leases, lapsed }, event, verdict) {
    switch (event.type) {
      case 'job.claimed': {
        const { job, node, incarnation, epoch, leaseTtlMs, atMs } = event
        const before = leases.get(job)
        if (before && !before.ended) lapsed.set(`${job} ${before.epoch}`, before)
        const fresh = { landedAtMs: atMs, started: false, certain: true, ended: false }
        return void leases.set(job, { node, incarnation, epoch, leaseTtlMs, ...fresh })
      }
      case 'claim.recovered':
      case 'lease.renewed': {
        // One of an epoch that was over is not, once the database went back to a backup.
        const lease = leaseOf(leases, lapsed, event)
        if (lease) lease.landedAtMs = event.atMs
        return
      }
      case 'attempt.started':
      case 'attempt.certain':
      case 'attempt.uncertain':
      case 'attempt.ended': {
        const lease = leaseOf(leases, lapsed, event)
        if (lease) told(world, lease, event, verdict)
        return
      }
      default:
        note(world, event)
    }
  },
})

function leaseOf(
  leases: State['leases'],
  lapsed: State['lapsed'],
  event: Who & { readonly job: string; readonly epoch: number },
): Lease | null {
  const { job, epoch } = event
  const current = leases.get(job)
  const lease = current?.epoch === epoch ? current : lapsed.get(`${job} ${epoch}`)
  return lease && isSame(lease, event) ? lease : null
}

type Told = EventOf<`attempt.${'started' | 'certain' | 'uncertain' | 'ended'}`>

function told(world: World, lease: Lease, event: Told, verdict: Verdict): void {
  const { job, type, atMs } = event
  const { landedAtMs, leaseTtlMs } = lease
  const lapsedMs = landedAtMs + leaseTtlMs + driftMs(world, lease, landedAtMs, leaseTtlMs)
  const late = atMs > lapsedMs && isPunctual(world, lease, landedAtMs)
  const says = (kind: string, what: string): void => {
    const message = `${nameOf(lease)} ${what} job ${job} at ${instant(atMs)}; the last claim or renewal of epoch ${lease.epoch} had landed at ${instant(lease.landedAtMs)}, for ${span(lease.leaseTtlMs)}`
    verdict.violated({ kind, subject: job, message })
  }
  verdict.evaluated()
  if (type === 'attempt.started') {
    lease.started = true
    if (atMs >= lapsedMs) says('started-past-its-lease', 'started')
  } else if (type === 'attempt.certain') {
    lease.certain = true
    if (atMs >= lapsedMs) says('certain-past-its-lease', 'vouched again for')
  } else if (type === 'attempt.uncertain') {
    lease.certain = false
    if (late) says('uncertain-late', 'stopped to vouch for')
  } else {
    lease.ended = true
    if (late && lease.started && lease.certain) says('vouched-too-long', 'still vouched for')
  }
}
