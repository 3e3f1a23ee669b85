import type { EventOf } from '../engine/history.ts'
import { type DatabaseClock, jump, newClock } from './model/clock.ts'
import { span } from './model/when.ts'
import { nameOf } from './model/who.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: within its TTL a lease is a promise, whatever befell its holder: a claim, the recovery of a claim, or a
 * renewal gives a whole TTL from the moment at which it lands, by the database's clock. What lapsed first is taken
 * back first, so that nothing starves. (Contract 0.2, 0.8, 0.10, 4.3.)
 *
 * A clock that went back shows as an expiry beyond a whole TTL: such a lease may be taken at once (0.20).
 *
 * Blind spot: a lease that lasts too long is `dead-worker-recovered`'s.
 */
interface Lease {
  readonly epoch: number
  readonly ttlMs: number
  /** By the database's clock. */
  expiresMs: number
}

interface State {
  readonly clock: DatabaseClock
  readonly leases: Map<string, Lease>
  /** The lease that was taken back last, and by whom. */
  last: { readonly by: string; readonly atMs: number; readonly expiresMs: number }
}

export const leaseLasts: Property = property({
  name: 'lease-lasts',
  kind: 'always',
  says: 'No lease is taken back before a TTL has passed since its last claim, recovery or renewal; what lapsed first is taken first.',
  blindSpot: 'A lease that lasts too long is not seen here.',
  on: [
    'job.claimed',
    'claim.recovered',
    'lease.renewed',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.takenBack',
    'database.jumped',
  ],
  suspendedBy: [],
  recalls: ['leases'],
  needs: ['crash', 'pause'],
  after: ['job.reclaimed'],
  start: (): State => ({ clock: newClock(), leases: new Map(), last: { by: '', atMs: -1, expiresMs: 0 } }),
  step(state, event, verdict) {
    const { clock, leases } = state
    switch (event.type) {
      case 'database.jumped':
        return jump(clock, event)
      case 'job.claimed': {
        const { job, epoch, leaseTtlMs: ttlMs, atMs } = event
        return void leases.set(job, { epoch, ttlMs, expiresMs: atMs + clock.aheadMs + ttlMs })
      }
      case 'claim.recovered':
      case 'lease.renewed': {
        const lease = leases.get(event.job)
        if (lease?.epoch === event.epoch) lease.expiresMs = event.atMs + clock.aheadMs + lease.ttlMs
        return
      }
      case 'job.reclaimed':
        return reclaimed(state, event, verdict)
      case 'job.settled':
        if (event.settled === 'applied' && leases.get(event.job)?.epoch === event.epoch)
          leases.delete(event.job)
        return
      case 'job.timedOut':
      case 'job.takenBack':
        leases.delete(event.job)
    }
  },
})

function reclaimed(state: State, event: EventOf<'job.reclaimed'>, verdict: Verdict): void {
  const { clock, leases, last } = state
  const { job, atMs } = event
  const lease = leases.get(job)
  leases.delete(job)
  if (!lease) return
  verdict.evaluated()
  const nowMs = atMs + clock.aheadMs
  const { ttlMs, expiresMs } = lease
  if (nowMs < expiresMs && expiresMs <= nowMs + ttlMs) {
    const message = `job ${job} was taken back ${span(expiresMs - nowMs)} before its lease of ${span(ttlMs)} had lapsed`
    verdict.violated({ kind: 'taken-early', subject: job, message })
  }
  // One sweep tells of what it took in one instant.
  const by = nameOf(event)
  if (last.by === by && last.atMs === atMs && expiresMs < last.expiresMs) {
    const message = `job ${job} was taken back after one whose lease had lapsed ${span(last.expiresMs - expiresMs)} later`
    verdict.violated({ kind: 'taken-out-of-order', subject: job, message })
  }
  state.last = { by, atMs, expiresMs }
}
