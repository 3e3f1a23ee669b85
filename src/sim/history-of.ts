import type { StoreEvent } from '../engine/history.ts'
import type {
  ClaimParams,
  ClaimReply,
  InsertParams,
  InsertReply,
  ReclaimReply,
  RecoverReply,
  RenewReply,
  SettleParams,
  SettleReply,
  TimeoutReply,
  WatchMoveReply,
} from '../engine/ports/store.ts'
import type { StoreCall } from '../stores/policy.ts'

/** What an operation did to the store, as history; `params` and `reply` are those of the call named. */
export function historyOf(call: StoreCall, params: unknown, reply: unknown): readonly StoreEvent[] {
  switch (call) {
    case 'jobs.insert':
      return inserted(params as InsertParams, reply as InsertReply)
    case 'claims.claim':
      return claimed(params as ClaimParams, reply as ClaimReply)
    case 'claims.recover':
      return recovered(params as { readonly token: string }, reply as RecoverReply)
    case 'claims.renew':
      return (reply as RenewReply).held.map(({ id, epoch }) => ({ type: 'lease.renewed', job: id, epoch }))
    case 'jobs.settle':
      return settled(params as SettleParams, reply as SettleReply)
    case 'jobs.reclaim':
      return reclaimed(reply as ReclaimReply)
    case 'jobs.expireTimeouts':
      return (reply as TimeoutReply).jobs.map(({ id, ...rest }) => ({
        type: 'job.timedOut',
        job: id,
        ...rest,
      }))
    case 'watch.move': {
      const { kind, seenSinceMs } = reply as WatchMoveReply
      return [{ type: 'watch.moved', kind, seenSinceMs }]
    }
    default:
      return none
  }
}

const none: readonly StoreEvent[] = []

function inserted({ jobs }: InsertParams, reply: InsertReply): StoreEvent[] {
  if (reply.kind === 'conflict') return []
  return jobs.map(({ spec, due }, k) => ({
    type: 'job.inserted',
    job: spec.id,
    created: reply.jobs[k]?.created ?? false,
    queue: spec.queue,
    band: spec.band,
    maxAttempts: spec.maxAttempts,
    maxEvictions: spec.maxEvictions,
    leaseTtlMs: spec.leaseTtlMs,
    timeoutMs: spec.timeoutMs,
    backoffMsMax: Math.max(...spec.backoffMs),
    dueMs: 'delayMs' in due ? due.delayMs : 0,
  }))
}

function claimed({ token }: ClaimParams, reply: ClaimReply): StoreEvent[] {
  if (reply.kind === 'void') return [{ type: 'claim.refused', token }]
  return reply.jobs.map(({ spec, epoch, attempt, failures, evictions }) => ({
    type: 'job.claimed',
    job: spec.id,
    epoch,
    attempt,
    failures,
    evictions,
    token,
    leaseTtlMs: spec.leaseTtlMs,
    batch: reply.jobs.length,
  }))
}

function recovered({ token }: { readonly token: string }, reply: RecoverReply): StoreEvent[] {
  if (reply.kind === 'voided') return [{ type: 'claim.voided', token }]
  return reply.jobs.map(({ spec, epoch }) => ({ type: 'claim.recovered', token, job: spec.id, epoch }))
}

function settled({ settlements }: SettleParams, { results }: SettleReply): StoreEvent[] {
  return settlements.map(({ id, epoch, outcome, repeated }, k) => ({
    type: 'job.settled',
    job: id,
    epoch,
    outcome: outcome.kind,
    permanent: outcome.kind === 'failed' && outcome.permanent,
    settled: results[k]?.settled ?? 'lost',
    repeated,
    state: results[k]?.state ?? null,
  }))
}

function reclaimed({ jobs, heldBack }: ReclaimReply): StoreEvent[] {
  const events: StoreEvent[] = jobs.map(({ id, ...rest }) => ({ type: 'job.reclaimed', job: id, ...rest }))
  if (heldBack > 0) events.push({ type: 'reclaim.heldBack', leases: heldBack })
  return events
}
