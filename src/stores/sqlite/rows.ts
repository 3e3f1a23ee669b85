import {
  type JobError,
  type JobEvent,
  type JobRecord,
  type JobSpec,
  type JobState,
  type Outcome,
  type Progress,
  isLastEviction,
} from '../../engine/jobs/record.ts'
import type { ClaimedJob } from '../../engine/ports/store.ts'
import { withBeyond } from '../beyond.ts'
import { labelsOf } from '../labels.ts'
import type { Operation, Value } from './statements.ts'

/** How a job lies in its rows, and comes out of them. */

/** The column `state` is an index into this. */
export const states: readonly JobState[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled']
export const queuedState = 0
export const runningState = 1
export const failedState = 3

/** The column `solo`: which of the indexes of queued jobs the row is in, if it is queued. */
export const undispatchedPlace = 2
export function placeOf(job: JobRecord): number {
  if (job.state === 'queued' && job.visibleAtMs === null) return undispatchedPlace
  return isLastEviction(job) ? 1 : 0
}

/** The column `settle_kind` is an index into this. */
export const settleKinds: readonly Outcome['kind'][] = ['succeeded', 'failed', 'released', 'cancelled']

/** What the producer stated; the first columns of the rows below. */
const specColumns = `b.id, j.kind, j.queue, j.band, b.input, b.input_version, b.max_attempts, b.max_evictions,
  b.backoff_ms, b.jitter, b.lease_ttl_ms, b.timeout_ms, b.keep_ms, b.labels, b.metadata, b.traceparent, b.enqueued_at,
  b.beyond`
type SpecRow = readonly [
  id: string,
  kind: string,
  queue: string,
  band: number,
  input: string,
  inputVersion: number,
  maxAttempts: number,
  maxEvictions: number,
  backoffMs: string,
  jitter: number,
  leaseTtlMs: number,
  timeoutMs: number,
  keepMs: number,
  labels: string | null,
  metadata: string | null,
  traceparent: string | null,
  enqueuedAtMs: number,
  beyond: string | null,
]

/** `delays` keeps what was parsed: the jobs of one batch mostly have one backoff. */
function specOf(row: SpecRow, delays: Map<string, readonly number[]>): JobSpec {
  let backoffMs = delays.get(row[8])
  if (!backoffMs) delays.set(row[8], (backoffMs = JSON.parse(row[8]) as readonly number[]))
  const labels = labelsOf(row[13])
  const spec: JobSpec = {
    id: row[0],
    kind: row[1],
    queue: row[2],
    band: row[3],
    input: row[4],
    inputVersion: row[5],
    maxAttempts: row[6],
    maxEvictions: row[7],
    backoffMs,
    jitter: row[9] === 1,
    leaseTtlMs: row[10],
    timeoutMs: row[11],
    tenant: labels.tenant,
    keys: labels.keys,
    keepMs: row[12],
    lineage: labels.lineage,
    metadata: parsed<Record<string, string>>(row[14]),
    traceparent: row[15],
    enqueuedAtMs: row[16],
  }
  return withBeyond(spec, row[17])
}

type FullRow = readonly [
  ...SpecRow,
  state: number,
  epoch: number,
  attempt: number,
  failures: number,
  evictions: number,
  version: number,
  seq: number,
  visibleAtMs: number | null,
  token: string | null,
  claimedAtMs: number | null,
  createdAtMs: number,
  updatedAtMs: number,
  finishedAtMs: number | null,
  cancelRequestedAtMs: number | null,
  progress: string | null,
  result: string | null,
  error: string | null,
  settleEpoch: number | null,
  settleKind: number | null,
  lastCommand: string | null,
  deadAtMs: number | null,
  replayedAs: string | null,
  events: string | null,
]
/** Of whole jobs, of `holdfast_body b`, `holdfast_job j` and `holdfast_claim c`. */
export const recordColumns: string = `${specColumns}, j.state, j.epoch, j.attempt, j.failures, j.evictions, j.version,
  j.seq, j.visible_at, c.token, c.made_at, b.created_at, j.updated_at, j.finished_at,
  j.cancel_requested_at, j.progress, j.result, j.error, j.settle_epoch, j.settle_kind, j.last_command,
  j.dead_at, j.replayed_as, j.events`
/** Whole jobs; give it a `where` or an `order by`. */
export const selectJobs: string = `select ${recordColumns}
  from holdfast_body b join holdfast_job j on j.seq = b.seq left join holdfast_claim c on c.claim = j.claim`

export function jobsOf(operation: Operation, sql: string, ...params: readonly Value[]): JobRecord[] {
  return recordsOf(operation.query<readonly unknown[]>(sql).all(...params))
}

export function recordsOf(rows: readonly (readonly unknown[])[]): JobRecord[] {
  const delays = new Map<string, readonly number[]>()
  return (rows as readonly FullRow[]).map((row) => recordOf(row, delays))
}

function recordOf(row: FullRow, delays: Map<string, readonly number[]>): JobRecord {
  return {
    spec: specOf(row as unknown as SpecRow, delays),
    state: stateOf(row[18]),
    epoch: row[19],
    attempt: row[20],
    failures: row[21],
    evictions: row[22],
    version: row[23],
    seq: row[24],
    visibleAtMs: row[25],
    token: row[26],
    claimedAtMs: row[27],
    createdAtMs: row[28],
    updatedAtMs: row[29],
    finishedAtMs: row[30],
    cancelRequestedAtMs: row[31],
    progress: parsed<Progress>(row[32]),
    result: row[33],
    error: parsed<JobError>(row[34]),
    lastSettle: settleOf(row[35], row[36]),
    lastCommand: row[37],
    // A release that does not know the mark leaves it on a job that it starts anew.
    deadAtMs: row[18] === failedState ? row[38] : null,
    replayedAs: row[39],
    events: eventsOf(row[40]),
  }
}

export function eventsOf(text: string | null): readonly JobEvent[] {
  return parsed<JobEvent[]>(text) ?? []
}

export function eventsText(events: readonly JobEvent[]): string | null {
  return events.length === 0 ? null : JSON.stringify(events)
}

export function stateOf(state: number): JobState {
  return states[state] as JobState
}

export function parsed<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T)
}

export function settleOf(epoch: number | null, kind: number | null): JobRecord['lastSettle'] {
  return epoch === null || kind === null ? null : { epoch, kind: settleKinds[kind] as Outcome['kind'] }
}

type ClaimedRow = readonly [
  ...SpecRow,
  epoch: number,
  attempt: number,
  failures: number,
  evictions: number,
  place: number,
  seq: number,
]
/** One round for all of them: a loop of single reads costs a half more. */
const selectClaimed = `select ${specColumns}, j.epoch, j.attempt, j.failures, j.evictions, e.key, j.seq
  from json_each(?) e cross join holdfast_job j on j.seq = e.value join holdfast_body b on b.seq = j.seq
  where j.claim = ?`

/**
 * The running jobs of a claim among `seqs` (a JSON list), in the order of the list. `waitedMs` says how long each
 * of the list had been due, or nothing.
 */
export function claimedJobs(
  operation: Operation,
  seqs: string,
  claim: number,
  waitedMs: readonly number[],
): ClaimedJob[] {
  const delays = new Map<string, readonly number[]>()
  const rows = operation.query<ClaimedRow>(selectClaimed).all(seqs, claim)
  // They come in that order; SQLite would copy the inputs to make sure of it.
  rows.sort((a, b) => a[22] - b[22])
  return rows.map((row) => ({
    spec: specOf(row as unknown as SpecRow, delays),
    epoch: row[18],
    attempt: row[19],
    failures: row[20],
    evictions: row[21],
    waitedMs: waitedMs[row[22]] ?? null,
    seq: row[23],
  }))
}
