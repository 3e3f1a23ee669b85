import type { EventOf, StoreEvent, WorldEvent } from '../engine/history.ts'
import type { QueueCounts } from '../engine/ports/queries.ts'
import type {
  FireReply,
  FireSchedule,
  PauseSchedule,
  PutSchedule,
  PutScheduleReply,
} from '../engine/ports/schedules.ts'
import { specOf } from '../engine/schedules/spec.ts'
import type { JobRecord, JobSpec } from '../engine/jobs/record.ts'
import type {
  DeadLetterPage,
  DeadLetterQuery,
  DiscardReply,
  ReplayParams,
  ReplayReply,
} from '../engine/ports/dead-letters.ts'
import { tellsOfDropped } from '../engine/logs/pending.ts'
import type { LogAppend } from '../engine/ports/logs.ts'
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
  LogOfJob,
  NamedLeaseParams,
  NewJob,
  ReclaimReply,
  RecoverReply,
  RenewReply,
  RestoredReply,
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
import { epochMs } from './clock/node-clock.ts'
import type { BuriedRows } from './buried.ts'
import { digest } from './hash.ts'

/** What an operation did to the store, as history; `params` and `reply` are those of the call named. */
export function historyOf(
  call: StoreCall,
  params: unknown,
  reply: unknown,
  rows: BuriedRows | null = null,
): readonly StoreEvent[] {
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
    case 'deadLetters.list':
      return [listed(params as DeadLetterQuery, reply as DeadLetterPage)]
    case 'deadLetters.replay':
      return replayed(params as ReplayParams, reply as ReplayReply, rows)
    case 'deadLetters.discard':
      return discarded(params as { readonly ids: readonly string[] }, reply as DiscardReply, rows)
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
    case 'schedules.put':
      return [schedulePut(params as PutSchedule, reply as PutScheduleReply)]
    case 'schedules.remove': {
      const { key } = params as { readonly key: string }
      return [{ type: 'schedule.removed', key, removed: (reply as { removed: boolean }).removed }]
    }
    case 'schedules.pause': {
      const { key, paused, nextAtMs = null } = params as PauseSchedule
      const { applied } = reply as { applied: boolean }
      return [{ type: 'schedule.paused', key, paused, applied, nextMs: inRun(nextAtMs) }]
    }
    case 'schedules.fire':
      return scheduleFired(params as FireSchedule, reply as FireReply)
    case 'logs.append': {
      const { id, epoch, lines } = params as LogAppend
      const texts = lines.map(({ text }) => digest(text))
      const { applied } = reply as Fenced
      return [{ type: 'log.appended', job: id, epoch, lines: lines.map(({ line }) => line), texts, applied }]
    }
    case 'control.set': {
      const { hold, paused } = reply as Control
      return [{ type: 'control.changed', hold, paused }]
    }
    case 'control.restored':
      return restored(params as { readonly command: string }, reply as RestoredReply)
    case 'queries.counts':
      return [{ type: 'queues.counted', queues: reply as readonly QueueCounts[] }]
    default:
      return none
  }
}

function restored({ command: token }: { readonly command: string }, reply: RestoredReply): StoreEvent[] {
  const { timeline, taken, control } = reply
  const { hold, paused } = control
  return [
    { type: 'timeline.began', timeline, token },
    ...taken.map(({ id, epoch, state }) => ({ type: 'job.takenBack', job: id, epoch, state }) as const),
    { type: 'control.changed', hold, paused },
  ]
}

function inRun(atMs: number | null): number | null {
  return atMs === null ? null : atMs - epochMs
}

function schedulePut({ key, spec, nextAtMs }: PutSchedule, { kind }: PutScheduleReply): StoreEvent {
  const { trigger, catchUp } = specOf({ key, spec })
  const never = { cron: null, timeZone: null, everyMs: null, anchorMs: null }
  const times =
    'everyMs' in trigger
      ? { ...never, everyMs: trigger.everyMs, anchorMs: inRun(trigger.anchorMs) }
      : { ...never, ...trigger }
  const policy = typeof catchUp === 'object' ? catchUp.all : catchUp
  return { type: 'schedule.put', key, kind, ...times, catchUp: policy, nextMs: inRun(nextAtMs) }
}

/** The firing, and after it the jobs that it made. */
function scheduleFired({ key, slots, nextAtMs }: FireSchedule, reply: FireReply): StoreEvent[] {
  const jobs = slots.map(({ job }) => job)
  const firing: StoreEvent = {
    type: 'schedule.fired',
    key,
    outcome: reply.kind,
    slots: slots.map(({ atMs }) => atMs - epochMs),
    jobs: jobs.map(({ spec }) => spec.id),
    nextMs: inRun(nextAtMs),
  }
  if (reply.kind !== 'fired') return [firing]
  const made = jobs.filter(({ spec }) => reply.created.includes(spec.id))
  const there = made.map(({ spec: { id } }) => ({ id, created: true }))
  const inserting = inserted({ insertId: '', jobs: made }, { kind: 'inserted', jobs: there })
  return [firing, ...inserting]
}

/** What has become of a job in the end. */
export function finalOf(job: JobRecord): WorldEvent {
  const { spec, state, attempt, failures, evictions, epoch, version, result, error } = job
  const { deadAtMs, replayedAs } = job
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
    dead: deadAtMs !== null,
    replayedAs,
    lineage: spec.lineage,
  }
}

/** What it has said, in the end. */
export function finalLogOf({ id, next, lines }: LogOfJob): WorldEvent {
  return {
    type: 'log.final',
    job: id,
    next,
    ns: lines.map(({ n }) => n),
    epochs: lines.map(({ epoch }) => epoch),
    texts: lines.map(({ text }) => (tellsOfDropped(text) ? 0 : digest(text))),
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
  return jobs.map(({ spec, due }, k) => insertedOne(spec, due, reply.jobs[k]?.created ?? false))
}

function insertedOne(spec: JobSpec, due: NewJob['due'], created: boolean): StoreEvent {
  return {
    type: 'job.inserted',
    job: spec.id,
    created,
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
  }
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

function listed({ cursor, kinds, queues, beforeMs }: DeadLetterQuery, page: DeadLetterPage): StoreEvent {
  const whole = cursor === null && page.next === null && !kinds && !queues && beforeMs === undefined
  return { type: 'dead.listed', jobs: page.jobs.map(({ spec }) => spec.id), whole }
}

/** What became of each, by its answer and by the rows before and after. */
function replayed(
  { replays, command: token }: ReplayParams,
  { results }: ReplayReply,
  rows: BuriedRows | null,
): StoreEvent[] {
  return replays.flatMap(({ id: job }, k): StoreEvent[] => {
    const result = results[k] ?? { kind: 'missing' }
    if (result.kind !== 'replayed') {
      return [{ type: 'replay.refused', job, why: result.kind, as: 'as' in result ? result.as : null }]
    }
    const [before, after] = [rows?.before.get(job), rows?.after.get(job)]
    const made = rows?.after.get(result.as)
    const deadAtMs = before?.deadAtMs ?? null
    const event: StoreEvent = {
      type: 'job.replayed',
      job,
      as: result.as,
      token,
      applied: deadAtMs !== null,
      deadForMs: deadAtMs === null || !after ? null : after.updatedAtMs - deadAtMs,
      stated: before ? statedDigest(before.spec) : 0,
      copied: made ? statedDigest(made.spec) : null,
      lineage: made?.spec.lineage ?? null,
    }
    return made ? [insertedOne(made.spec, { delayMs: 0 }, true), event] : [event]
  })
}

/** The same on every store, whatever the order in which it keeps the parts. */
function statedDigest({ id: _id, lineage: _lineage, ...stated }: JobSpec): number {
  return digest(JSON.stringify(Object.entries(stated).sort(([a], [b]) => (a < b ? -1 : 1))))
}

function discarded(
  { ids }: { readonly ids: readonly string[] },
  { results }: DiscardReply,
  rows: BuriedRows | null,
): StoreEvent[] {
  return ids.map((job, k) => {
    if (results[k]?.kind !== 'discarded') return { type: 'discard.refused', job }
    return { type: 'job.discarded', job, applied: (rows?.before.get(job)?.deadAtMs ?? null) !== null }
  })
}

function reclaimed({ jobs, heldBack }: Pick<ReclaimReply, 'jobs' | 'heldBack'>): StoreEvent[] {
  const events: StoreEvent[] = jobs.map(({ id, ...rest }) => ({ type: 'job.reclaimed', job: id, ...rest }))
  if (heldBack > 0) events.push({ type: 'reclaim.heldBack', leases: heldBack })
  return events
}
