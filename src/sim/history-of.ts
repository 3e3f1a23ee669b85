import type { EventOf, StoreEvent, WorldEvent } from '../engine/history.ts'
import type { JobRecord } from '../engine/jobs/record.ts'
import type {
  AdoptReply,
  CancelReply,
  ClaimParams,
  ClaimReply,
  ConfirmReply,
  CommandParams,
  CommandReply,
  Control,
  Fenced,
  InsertParams,
  InsertReply,
  JobEpoch,
  NamedLeaseParams,
  ReclaimReply,
  RecoverReply,
  RenewReply,
  SettleParams,
  SettleReply,
  TimeoutReply,
  TransactParams,
  TransactReply,
  WatchMoveReply,
  Worked,
} from '../engine/ports/store.ts'
import type { SweepReply } from '../engine/ports/retention.ts'
import type { StoreCall } from '../stores/policy.ts'
import { digest } from './hash.ts'

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
    case 'jobs.adopt':
      return reclaimed({ ...(reply as AdoptReply), heldBack: 0 })
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
    case 'jobs.requestCancel':
      return cancelRequested(params as { readonly id: string }, reply as CancelReply)
    case 'jobs.retry':
    case 'jobs.reschedule':
      return commanded(call, params as CommandParams & { readonly delayMs?: number }, reply as CommandReply)
    case 'jobs.progress':
      return noted('progress', params as NoteParams, reply as Fenced)
    case 'jobs.checkpoint':
      return noted('checkpoint', params as NoteParams, reply as Fenced)
    case 'jobs.checkpoints': {
      const entries = (reply as readonly { key: string; value: string }[]).map(({ key, value }) => ({
        key,
        value: digest(value),
      }))
      return [{ type: 'job.recalled', job: (params as { readonly id: string }).id, entries }]
    }
    case 'jobs.repairDispatch':
      return (reply as { ids: readonly string[] }).ids.map((job) => ({ type: 'job.dispatched', job }))
    case 'retention.sweep':
      return (reply as SweepReply).removed.map((job) => ({ type: 'job.removed', job }))
    case 'leases.acquire': {
      const { key, owner, ttlMs } = params as NamedLeaseParams
      if (!(reply as { acquired: boolean }).acquired) return [{ type: 'named.refused', key, owner }]
      return [{ type: 'named.acquired', key, owner, ttlMs }]
    }
    case 'leases.renew': {
      const { key, owner, ttlMs } = params as NamedLeaseParams
      return [{ type: 'named.renewed', key, owner, ttlMs, held: (reply as { held: boolean }).held }]
    }
    case 'leases.release': {
      const { key, owner } = params as NamedLeaseParams
      return [{ type: 'named.released', key, owner, released: (reply as { released: boolean }).released }]
    }
    case 'commits.transact':
      return transacted(params as WitnessedTransact, reply as TransactReply)
    case 'commits.confirm':
      return confirmed(params as JobEpoch, reply as ConfirmReply)
    case 'control.set': {
      const { hold, paused } = reply as Control
      return [{ type: 'control.changed', hold, paused }]
    }
    default:
      return none
  }
}

/** What has become of a job in the end. */
export function finalOf(job: JobRecord): WorldEvent {
  const { spec, state, attempt, failures, evictions, epoch, version, result, error } = job
  return {
    type: 'job.final',
    job: spec.id,
    state,
    attempt,
    failures,
    evictions,
    epoch,
    version,
    result: digest(result),
    error: error?.code ?? null,
  }
}

const none: readonly StoreEvent[] = []

type NoteParams = JobEpoch & { readonly key?: string; readonly value?: string }

function noted(
  what: 'progress' | 'checkpoint',
  { id, epoch, key = '', value }: NoteParams,
  { applied }: Fenced,
): StoreEvent[] {
  return [{ type: 'job.noted', job: id, epoch, what, key, value: digest(value ?? null), applied }]
}

function commanded(
  call: 'jobs.retry' | 'jobs.reschedule',
  { id, version: asked, command: token, delayMs = 0 }: CommandParams & { readonly delayMs?: number },
  { kind, version }: CommandReply,
): StoreEvent[] {
  const command = call === 'jobs.retry' ? 'retry' : 'reschedule'
  return [
    { type: 'job.commanded', job: id, command, token, delayMs, asked, applied: kind === 'applied', version },
  ]
}

function cancelRequested({ id }: { readonly id: string }, reply: CancelReply): StoreEvent[] {
  const told = reply.kind === 'cancelled' || reply.kind === 'requested'
  return told ? [{ type: 'job.cancelRequested', job: id, kind: reply.kind }] : []
}

function inserted({ jobs }: InsertParams, reply: InsertReply): StoreEvent[] {
  if (reply.kind === 'conflict') return refused(jobs, reply.ids)
  return jobs.map(({ spec, due }, k) => ({
    type: 'job.inserted',
    job: spec.id,
    created: reply.jobs[k]?.created ?? false,
    kind: spec.kind,
    queue: spec.queue,
    band: spec.band,
    maxAttempts: spec.maxAttempts,
    maxEvictions: spec.maxEvictions,
    leaseTtlMs: spec.leaseTtlMs,
    timeoutMs: spec.timeoutMs,
    backoffMs: spec.backoffMs,
    jitter: spec.jitter,
    keepMs: spec.keepMs,
    dueMs: 'delayMs' in due ? due.delayMs : null,
    undispatched: 'undispatched' in due,
    input: digest(spec.input),
  }))
}

function refused(jobs: InsertParams['jobs'], ids: readonly string[]): StoreEvent[] {
  return jobs
    .filter(({ spec }) => ids.includes(spec.id))
    .map(({ spec: { id, kind, input } }) => ({ type: 'insert.refused', job: id, kind, input: digest(input) }))
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
    delayMs: 'delayMs' in outcome ? outcome.delayMs : 0,
    result: outcome.kind === 'succeeded' ? digest(outcome.result) : 0,
    error: outcome.kind === 'failed' ? outcome.error.code : null,
    settled: results[k]?.settled ?? 'lost',
    repeated,
    state: results[k]?.state ?? null,
  }))
}

/** A transaction, and what its function answered once it ran. */
export interface WitnessedTransact extends TransactParams {
  worked: Worked | null
}

/** First what the handler wrote, then the settlement. Of what it undid itself there is nothing to tell. */
function transacted({ id, epoch, worked }: WitnessedTransact, { kind }: TransactReply): StoreEvent[] {
  if (kind === 'thrown') return []
  const result = worked && 'result' in worked ? digest(worked.result) : 0
  const done = kind === 'committed'
  const settled = settlementOf({ id, epoch }, 'succeeded', {
    result: done ? result : 0,
    settled: done ? 'applied' : 'lost',
    state: done ? 'succeeded' : null,
  })
  return done ? [{ type: 'effect.committed', job: id, epoch, result }, settled] : [settled]
}

function confirmed(params: JobEpoch, { kind, state }: ConfirmReply): StoreEvent[] {
  if (kind !== 'released') return []
  return [settlementOf(params, 'released', { result: 0, settled: 'applied', repeated: true, state })]
}

function settlementOf(
  { id, epoch }: JobEpoch,
  outcome: 'succeeded' | 'released',
  rest: Partial<EventOf<'job.settled'>> & Pick<EventOf<'job.settled'>, 'result' | 'settled' | 'state'>,
): StoreEvent {
  const { result, settled, state, repeated = false } = rest
  return {
    type: 'job.settled',
    job: id,
    epoch,
    outcome,
    permanent: false,
    delayMs: 0,
    result,
    error: null,
    settled,
    repeated,
    state,
  }
}

function reclaimed({ jobs, heldBack }: Pick<ReclaimReply, 'jobs' | 'heldBack'>): StoreEvent[] {
  const events: StoreEvent[] = jobs.map(({ id, ...rest }) => ({ type: 'job.reclaimed', job: id, ...rest }))
  if (heldBack > 0) events.push({ type: 'reclaim.heldBack', leases: heldBack })
  return events
}
