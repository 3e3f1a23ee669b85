import type { JobEpoch, Reclaimed, Settled, Settlement } from '../ports/store.ts'
import { backoffAt } from './backoff.ts'
import {
  type JobError,
  type JobEvent,
  type JobRecord,
  type JobSpec,
  type Lineage,
  type Progress,
  isTerminal,
  jobEventsMax,
} from './record.ts'

/**
 * Every change of a job as a pure function: (record, what happens, database time) to a record or a
 * refusal. Stores that keep records in memory call these; SQL stores say the same in SQL and are held to
 * it by the conformance suite.
 */

/** Epochs of a store start here on a timeline: beyond all that were given out on those before. */
export function firstEpoch(timeline: number): number {
  return timeline * epochsPerTimeline
}
/** Which timeline begins after `timeline`. */
export function timelineAfter(timeline: number, timelineMin: number): number {
  return Math.max(timeline + 1, timelineMin)
}
/** On which timeline an epoch was given out. */
export function timelineOf(epoch: number): number {
  return Math.floor(epoch / epochsPerTimeline)
}
/** No job is claimed so often between a backup and its restore. */
export const epochsPerTimeline = 1_000_000

export function created(
  spec: JobSpec,
  seq: number,
  visibleAtMs: number | null,
  { nowMs, timeline }: { readonly nowMs: number; readonly timeline: number },
): JobRecord {
  return {
    spec,
    state: 'queued',
    epoch: firstEpoch(timeline),
    attempt: 0,
    failures: 0,
    evictions: 0,
    version: 1,
    seq,
    visibleAtMs,
    token: null,
    claimedAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    finishedAtMs: null,
    cancelRequestedAtMs: null,
    progress: null,
    result: null,
    error: null,
    lastSettle: null,
    lastCommand: null,
    deadAtMs: null,
    replayedAs: null,
    events: [],
  }
}

export function claimed(job: JobRecord, token: string, nowMs: number): JobRecord {
  return {
    ...job,
    state: 'running',
    epoch: job.epoch + 1,
    attempt: job.attempt + 1,
    version: job.version + 1,
    visibleAtMs: null,
    token,
    claimedAtMs: nowMs,
    updatedAtMs: nowMs,
    progress: null,
  }
}

/** Applies a settlement iff the job is running at its epoch; `job` null is a job that is not there. */
export function settled(
  job: JobRecord | null,
  settlement: Settlement,
  nowMs: number,
): { readonly settled: Settled; readonly job: JobRecord | null } {
  if (job === null || !runsAt(job, settlement.epoch)) {
    return { settled: refusal(job, settlement), job: null }
  }
  const { outcome, epoch } = settlement
  const done = { ...job, lastSettle: { epoch, kind: outcome.kind } }
  switch (outcome.kind) {
    case 'succeeded':
      return {
        settled: 'applied',
        job: { ...finished(done, 'succeeded', nowMs), result: outcome.result, error: null },
      }
    case 'cancelled':
      return { settled: 'applied', job: finished(done, 'cancelled', nowMs) }
    case 'released':
      return {
        settled: 'applied',
        job: returned(noted(done, 'released', nowMs), nowMs, outcome.delayMs),
      }
    case 'failed': {
      const failures = job.failures + 1
      const charged = { ...noted(done, 'failed', nowMs, outcome.error), failures, error: outcome.error }
      return outcome.permanent || failures >= job.spec.maxAttempts
        ? { settled: 'applied', job: finished(charged, 'failed', nowMs) }
        : { settled: 'applied', job: returned(charged, nowMs, outcome.delayMs) }
    }
  }
}

/**
 * What became of a success whose transaction was not answered. If it was not committed the job goes back, and what
 * still comes is fenced off.
 */
export function confirmed(
  job: JobRecord | null,
  { id, epoch }: JobEpoch,
  nowMs: number,
): { readonly kind: 'committed' | 'released' | 'lost'; readonly job: JobRecord | null } {
  const release: Settlement = { id, epoch, outcome: { kind: 'released', delayMs: 0 }, repeated: true }
  const gaveBack = settled(job, release, nowMs)
  if (gaveBack.settled === 'applied') return { kind: 'released', job: gaveBack.job }
  const committed = job?.lastSettle?.epoch === epoch && job.lastSettle.kind === 'succeeded'
  return { kind: committed ? 'committed' : 'lost', job: null }
}

function refusal(job: JobRecord | null, { epoch, outcome, repeated }: Settlement): Settled {
  const own = job?.lastSettle?.epoch === epoch && job.lastSettle.kind === outcome.kind
  if (repeated && own) return 'applied'
  return repeated && job !== null ? 'superseded' : 'lost'
}

/** Takes a running job from a holder whose lease lapsed. */
export function reclaimed(job: JobRecord, nowMs: number): JobRecord {
  const evictions = job.evictions + 1
  const error = leaseLost(evictions)
  const taken = { ...noted(job, 'evicted', nowMs, error), epoch: job.epoch + 1, evictions, error }
  return evictions >= job.spec.maxEvictions
    ? finished(taken, 'failed', nowMs)
    : returned(taken, nowMs, backoffAt(job.spec.backoffMs, evictions))
}

/** Takes a running job whose holder did not enforce its timeout. */
export function timedOut(job: JobRecord, nowMs: number): JobRecord {
  const failures = job.failures + 1
  const error = { code: 'TIMEOUT', message: `attempt exceeded ${job.spec.timeoutMs} ms` }
  const taken = { ...noted(job, 'timed-out', nowMs, error), epoch: job.epoch + 1, failures, error }
  return failures >= job.spec.maxAttempts
    ? finished(taken, 'failed', nowMs)
    : returned(taken, nowMs, backoffAt(job.spec.backoffMs, failures))
}

/** A queued job ends at once; a running one is told at its next heartbeat. Null: there is nothing to do. */
export function cancelRequested(job: JobRecord, nowMs: number): JobRecord | null {
  if (isTerminal(job.state) || job.cancelRequestedAtMs !== null) return null
  const asked = { ...noted(job, 'cancel-requested', nowMs), cancelRequestedAtMs: nowMs }
  if (job.state === 'queued') return finished(asked, 'cancelled', nowMs)
  return { ...asked, version: job.version + 1, updatedAtMs: nowMs }
}

/**
 * An operator starts an ended job anew: counters and error are reset, its epochs and attempts go on. Not what was
 * replayed: of one dead letter comes one job.
 */
export function retried(
  job: JobRecord,
  command: string,
  { nowMs, timeline }: { readonly nowMs: number; readonly timeline: number },
): JobRecord | null {
  if ((job.state !== 'failed' && job.state !== 'cancelled') || job.replayedAs !== null) return null
  const anew = {
    failures: 0,
    evictions: 0,
    error: null,
    finishedAtMs: null,
    cancelRequestedAtMs: null,
    progress: null,
    deadAtMs: null,
    epoch: Math.max(job.epoch, firstEpoch(timeline)),
  }
  return { ...returned({ ...noted(job, 'retried', nowMs), ...anew }, nowMs, 0), lastCommand: command }
}

/**
 * What the job that replays a dead letter states: all that its producer stated of the one that failed, whatever the
 * definition says by now, and where it comes from.
 */
export function replayOf({ spec }: JobRecord, as: string): JobSpec {
  return { ...spec, id: as, lineage: lineageOf(spec) }
}

export function lineageOf({ id, lineage }: Pick<JobSpec, 'id' | 'lineage'>): Lineage {
  return { ...lineage, root: lineage?.root ?? id, parent: id, replays: (lineage?.replays ?? 0) + 1 }
}

/** A dead letter of which a new job was made. Null: it is none. */
export function replayed(job: JobRecord, as: string, command: string, nowMs: number): JobRecord | null {
  if (!isDead(job)) return null
  return { ...closed(noted(job, 'replayed', nowMs), nowMs), replayedAs: as, lastCommand: command }
}

/** A dead letter that nobody is to replay. Null: it is none. */
export function discarded(job: JobRecord, nowMs: number): JobRecord | null {
  if (!isDead(job)) return null
  return closed(noted(job, 'discarded', nowMs), nowMs)
}

/** The mark alone does not say it: a release that does not know it leaves it on a job that it starts anew. */
function isDead({ state, deadAtMs }: JobRecord): boolean {
  return state === 'failed' && deadAtMs !== null
}

function closed(job: JobRecord, nowMs: number): JobRecord {
  return { ...job, version: job.version + 1, updatedAtMs: nowMs, deadAtMs: null }
}

/**
 * The store was restored from a backup: whoever held the job, or will hold it in a time that was lost, writes nothing
 * more. One that ran goes back uncharged. Null for what has ended: it leaps when it is started anew.
 */
export function restored(
  job: JobRecord,
  { nowMs, timeline }: { readonly nowMs: number; readonly timeline: number },
): JobRecord | null {
  if (isTerminal(job.state)) return null
  const epoch = Math.max(job.epoch, firstEpoch(timeline))
  if (job.state === 'running') return { ...returned(noted(job, 'restored', nowMs), nowMs, 0), epoch }
  return { ...job, epoch, version: job.version + 1, updatedAtMs: nowMs }
}

/** A job that waits is moved to another time; its place is then that of a job that came back. */
export function rescheduled(
  job: JobRecord,
  delayMs: number,
  command: string,
  nowMs: number,
): JobRecord | null {
  if (job.state !== 'queued') return null
  return {
    ...noted(job, 'rescheduled', nowMs),
    version: job.version + 1,
    visibleAtMs: nowMs + delayMs,
    updatedAtMs: nowMs,
    lastCommand: command,
  }
}

/** A job that was created without a place in the queue gets one now. */
export function dispatched(job: JobRecord, nowMs: number): JobRecord {
  return { ...job, version: job.version + 1, visibleAtMs: nowMs, updatedAtMs: nowMs }
}

/** How far the attempt is; null unless the job is running at this epoch. */
export function progressed(
  job: JobRecord,
  epoch: number,
  progress: Progress,
  nowMs: number,
): JobRecord | null {
  if (!runsAt(job, epoch)) return null
  return { ...job, version: job.version + 1, progress, updatedAtMs: nowMs }
}

/** The job under an id, if it is the one that is meant: once a job was removed, its id may be that of another. */
export function meant(job: JobRecord | null | undefined, seq: number | undefined): JobRecord | null {
  return job && (seq === undefined || job.seq === seq) ? job : null
}

/** The fence: whether a write of the holder of `epoch` applies. */
export function runsAt(job: JobRecord | null | undefined, epoch: number): job is JobRecord {
  return job?.state === 'running' && job.epoch === epoch
}

/** Where a job is after it was taken from its holder. */
export function takenTo({ state }: JobRecord): 'queued' | 'failed' | 'cancelled' {
  return state === 'failed' || state === 'cancelled' ? state : 'queued'
}

/** What a caller is told of a job that was taken back. */
export function takenBack(job: JobRecord): Reclaimed {
  return { id: job.spec.id, epoch: job.epoch, evictions: job.evictions, state: takenTo(job) }
}

export function holds(job: JobRecord | undefined, token: string): job is JobRecord {
  return job !== undefined && job.state === 'running' && job.token === token
}

export function epochOf(job: JobRecord): JobEpoch {
  return { id: job.spec.id, epoch: job.epoch }
}

function leaseLost(evictions: number): JobError {
  return { code: 'LEASE_LOST', message: `lease lost x${evictions}` }
}

/** What fails for good is a dead letter from then on. */
function finished(job: JobRecord, state: 'succeeded' | 'failed' | 'cancelled', nowMs: number): JobRecord {
  const deadAtMs = state === 'failed' ? nowMs : null
  return { ...unclaimed(job, nowMs), state, finishedAtMs: nowMs, deadAtMs }
}

function noted(
  job: JobRecord,
  kind: JobEvent['kind'],
  nowMs: number,
  error: JobError | null = null,
): JobRecord {
  const event = { kind, atMs: nowMs, attempt: job.attempt, epoch: job.epoch, error }
  return { ...job, events: [...job.events.slice(1 - jobEventsMax), event] }
}

/** Back to the queue, or, where its end was asked for, to that. */
function returned(job: JobRecord, nowMs: number, delayMs: number): JobRecord {
  if (job.cancelRequestedAtMs !== null) return finished(job, 'cancelled', nowMs)
  return { ...unclaimed(job, nowMs), state: 'queued', visibleAtMs: nowMs + delayMs }
}

function unclaimed(job: JobRecord, nowMs: number): JobRecord {
  return {
    ...job,
    version: job.version + 1,
    token: null,
    claimedAtMs: null,
    visibleAtMs: null,
    updatedAtMs: nowMs,
  }
}
