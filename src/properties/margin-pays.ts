import type { EventOf } from '../engine/history.ts'
import { isDatabaseWell, isUntouched } from './model/health.ts'
import { isHarmless } from './model/harmless.ts'
import { instant } from './model/when.ts'
import { type Who, isSame, nameOf } from './model/who.ts'
import { type World, newWorld, note, worldEvents } from './model/world.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a message gets lost now and then, and must not cost a job its lease. The margin pays for it: a heartbeat
 * at a third of the shortest lease held, a call that is given up in time, and another try soon after, all
 * within the TTL. A margin that is computed wrongly shows only when the one message that it is for is lost.
 * (Contract 0.3.)
 *
 * Asked of a worker to which nothing else happened within two TTLs, itself or the database. Of messages only those
 * about claims count: no other renews a lease.
 *
 * Blind spot: two mishaps in close succession, which the margin does not promise to survive.
 */
interface Lease extends Who {
  readonly ttlMs: number
  landedAtMs: number
}

interface State {
  readonly world: World
  readonly leases: Map<string, Lease>
  /** When a message of the node was last lost, and the one before. */
  readonly losses: Map<string, { atMs: number; beforeMs: number }>
}

export const marginPays: Property = property({
  name: 'margin-pays',
  kind: 'always',
  says: 'One message that is lost, late or slow, by itself, costs no worker a lease.',
  blindSpot: 'Two mishaps in close succession are not judged.',
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
  needs: ['lost-request', 'lost-reply', 'slow-reply', 'late-request'],
  start: (): State => ({ world: newWorld(), leases: new Map(), losses: new Map() }),
  step(state, event, verdict) {
    const { world, leases, losses } = state
    switch (event.type) {
      case 'job.claimed': {
        const { job, node, incarnation, leaseTtlMs: ttlMs, atMs } = event
        return void leases.set(job, { node, incarnation, ttlMs, landedAtMs: atMs })
      }
      case 'lease.renewed':
        return renewed(state, event, verdict)
      case 'job.reclaimed': {
        const lease = leases.get(event.job)
        leases.delete(event.job)
        const loss = lease && losses.get(lease.node)
        if (!loss || !isPaidFor(state, lease, event.atMs)) return
        verdict.evaluated()
        const message = `job ${event.job} was taken from ${nameOf(lease)}, to which nothing happened but a message lost at ${instant(loss.atMs)}`
        return verdict.violated({ kind: 'one-loss-cost-a-lease', subject: event.job, message })
      }
      case 'job.settled':
        if (event.settled === 'applied') leases.delete(event.job)
        return
      case 'job.timedOut':
      case 'job.takenBack':
        leases.delete(event.job)
        return
      case 'fault.struck':
        if (event.call === null || event.forMs > 0 || event.family === 'pause-on-call')
          return note(world, event)
        if (isHarmless(event.family) || !event.call.startsWith('claims.')) return
        losses.set(event.node, { atMs: event.atMs, beforeMs: losses.get(event.node)?.atMs ?? -1 })
        return
      default:
        note(world, event)
    }
  },
})

/** A lease that was held when the message was lost, and is renewed after it: the margin paid. */
function renewed(state: State, event: EventOf<'lease.renewed'>, verdict: Verdict): void {
  const lease = state.leases.get(event.job)
  if (!lease || !isSame(lease, event)) return
  const lostAtMs = state.losses.get(event.node)?.atMs ?? -1
  const across = lease.landedAtMs <= lostAtMs && lostAtMs < event.atMs
  lease.landedAtMs = event.atMs
  if (across && isPaidFor(state, lease, event.atMs)) verdict.evaluated()
}

/** Exactly one message was lost within two TTLs, and nothing else happened. */
function isPaidFor({ world, losses }: State, lease: Lease, atMs: number): boolean {
  const sinceMs = atMs - 2 * lease.ttlMs
  const loss = losses.get(lease.node)
  if (!loss || loss.atMs < sinceMs || loss.beforeMs >= sinceMs) return false
  return isUntouched(world, lease, sinceMs) && isDatabaseWell(world, sinceMs)
}
