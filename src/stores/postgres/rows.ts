import {
  type JobError,
  type JobEvent,
  type JobRecord,
  type JobSpec,
  type JobState,
  type Outcome,
  type Progress,
  jobEventsMax,
} from '../../engine/jobs/record.ts'
import { epochsPerTimeline } from '../../engine/jobs/transitions.ts'
import type { ClaimedJob } from '../../engine/ports/store.ts'
import { withBeyond } from '../beyond.ts'
import { labelsOf } from '../labels.ts'

/** How a job lies in its rows, and comes out of them. */

/** The column `state` is an index into this. */
const states: readonly JobState[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled']
/** The column `settle_kind` is an index into this. */
export const settleKinds: readonly Outcome['kind'][] = ['succeeded', 'failed', 'released', 'cancelled']

export function stateCode(state: JobState): number {
  return states.indexOf(state)
}

export function stateOf(code: number): JobState {
  return states[code] as JobState
}

/**
 * Which place among those that wait a job gets when it comes back: `isLastEviction` of the engine, said in SQL.
 * `spec` is the text of the body, `evictions` an expression.
 */
export function placeOf(evictions: string, spec: string): string {
  return `(case when ${evictions} > 0 and ${evictions} >= (${spec}::json->>'maxEvictions')::bigint - 1 then 1 else 0 end)`
}

/** `backoffAt` of the engine, said in SQL. */
export function backoffOf(returns: string, spec: string): string {
  const table = `(${spec}::json->'backoffMs')`
  return `coalesce((${table}->>(least(${returns}, json_array_length(${table})) - 1)::int)::bigint, 0)`
}

/** `firstEpoch` of the engine, of the timeline that the store is on. */
export const firstEpoch: string = `(coalesce((select timeline from holdfast.timeline), 0) * ${epochsPerTimeline})`

/** `noted` of the transitions, said in SQL, of a row of `j`: its events, one more at `t.ms`. */
export function noted(kind: JobEvent['kind'], error: string | null = null): string {
  const item = `json_build_object('kind', '${kind}', 'atMs', t.ms, 'attempt', j.attempt, 'epoch', j.epoch,
    'error', ${error === null ? 'null' : `(${error})::json`})::text`
  const kept = `greatest(1, coalesce(cardinality(j.events), 0) - ${jobEventsMax - 2})`
  return `(array_append(j.events, ${item}))[${kept}:]`
}

/** The part of a specification that no statement but a rare one looks into, as the JSON text in `body.spec`. */
export function statedText(spec: JobSpec): string {
  const { inputVersion, maxAttempts, maxEvictions, backoffMs, jitter, leaseTtlMs, timeoutMs, keepMs } = spec
  return JSON.stringify({
    inputVersion,
    maxAttempts,
    maxEvictions,
    backoffMs,
    jitter,
    leaseTtlMs,
    timeoutMs,
    keepMs,
  })
}
type Stated = Pick<
  JobSpec,
  | 'inputVersion'
  | 'maxAttempts'
  | 'maxEvictions'
  | 'backoffMs'
  | 'jitter'
  | 'leaseTtlMs'
  | 'timeoutMs'
  | 'keepMs'
>
/** Of a job that was stored by a release which did not say. */
const keptMs = 7 * 24 * 3_600_000

/** How long a job is kept once it has ended, said in SQL; `spec` is the text of the body. */
export function keepMsOf(spec: string): string {
  return `coalesce((${spec}::json->>'keepMs')::bigint, ${keptMs})`
}

/** Of `body b` and `job j`. */
const specColumns =
  'b.id, j.kind, j.queue, j.band, b.input, b.spec, b.labels, b.metadata, b.traceparent, b.enqueued_at, b.beyond'
type SpecRow = readonly [
  id: string,
  kind: string,
  queue: string,
  band: number,
  input: string,
  spec: string | null,
  labels: string | null,
  metadata: string | null,
  traceparent: string | null,
  enqueuedAtMs: number,
  beyond: string | null,
]

/**
 * Reads specifications; what it parsed it keeps, for the jobs of one batch mostly state the same. `known` is what a row
 * states that says nothing.
 */
function specReader(
  lane: { readonly kind: string; readonly queue: string } | null,
  known: string,
): (row: SpecRow) => JobSpec {
  const read = new Map<string | null, Stated>()
  return (row) => {
    let stated = read.get(row[5])
    if (!stated) read.set(row[5], (stated = JSON.parse(row[5] ?? known) as Stated))
    const labels = labelsOf(row[6])
    const spec: JobSpec = {
      id: row[0],
      kind: lane ? lane.kind : row[1],
      queue: lane ? lane.queue : row[2],
      band: row[3],
      input: row[4],
      inputVersion: stated.inputVersion,
      maxAttempts: stated.maxAttempts,
      maxEvictions: stated.maxEvictions,
      backoffMs: stated.backoffMs,
      jitter: stated.jitter,
      leaseTtlMs: stated.leaseTtlMs,
      timeoutMs: stated.timeoutMs,
      tenant: labels.tenant,
      keys: labels.keys,
      keepMs: stated.keepMs ?? keptMs,
      lineage: labels.lineage,
      metadata: parsed<Record<string, string>>(row[7]),
      traceparent: row[8],
      enqueuedAtMs: row[9],
    }
    return withBeyond(spec, row[10])
  }
}

/** What most jobs have alike is left out: a value that is not sent costs nothing on either side. */
export const claimedColumns: string = `${specColumns}, nullif(j.epoch, 1) as epoch, nullif(j.attempt, j.epoch) as attempt,
  nullif(j.failures, 0) as failures, nullif(j.evictions, 0) as evictions`
/** `waited_ms` is null where nobody can tell. */
export type ClaimedRow = readonly [
  ...SpecRow,
  epoch: number | null,
  attempt: number | null,
  failures: number | null,
  evictions: number | null,
  waitedMs: number | null,
  seq: number,
]

/** `lane`: what the rows leave out, where all are of one kind and one queue; `known`: the `spec` that they leave out. */
export function claimedOf(
  rows: readonly ClaimedRow[],
  lane: { readonly kind: string; readonly queue: string } | null,
  known = '',
): ClaimedJob[] {
  const specOf = specReader(lane, known)
  return rows.map((row) => ({
    spec: specOf(row as unknown as SpecRow),
    epoch: row[11] ?? 1,
    attempt: row[12] ?? row[11] ?? 1,
    failures: row[13] ?? 0,
    evictions: row[14] ?? 0,
    waitedMs: row[15],
    seq: row[16],
  }))
}

type RecordRow = readonly [
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
/** Of whole jobs, of `body b`, `job j` and `claim c`. A job that does not wait keeps its last visible time in the row. */
export const recordColumns: string = `${specColumns}, j.state, j.epoch, j.attempt, j.failures, j.evictions,
  j.version, j.seq, case when j.state = 0 then j.visible_at end, c.token, c.made_at, b.created_at, j.updated_at,
  j.finished_at, j.cancel_requested_at, j.progress, j.result, j.error, j.settle_epoch, j.settle_kind, j.last_command,
  j.dead_at, j.replayed_as, array_to_json(j.events)::text`
/** Whole jobs; give it a `where` or an `order by`. */
export const selectRecords: string = `select ${recordColumns}
  from holdfast.body b join holdfast.job j on j.seq = b.seq left join holdfast.claim c on c.claim = j.claim`

export function recordsOf(rows: readonly unknown[]): JobRecord[] {
  const specOf = specReader(null, '')
  return (rows as readonly RecordRow[]).map((row) => ({
    spec: specOf(row as unknown as SpecRow),
    state: stateOf(row[11]),
    epoch: row[12],
    attempt: row[13],
    failures: row[14],
    evictions: row[15],
    version: row[16],
    seq: row[17],
    visibleAtMs: row[18],
    token: row[19],
    claimedAtMs: row[20],
    createdAtMs: row[21],
    updatedAtMs: row[22],
    finishedAtMs: row[23],
    cancelRequestedAtMs: row[24],
    progress: parsed<Progress>(row[25]),
    result: row[26],
    error: parsed<JobError>(row[27]),
    lastSettle: settleOf(row[28], row[29]),
    lastCommand: row[30],
    // A release that does not know the mark leaves it on a job that it starts anew.
    deadAtMs: stateOf(row[11]) === 'failed' ? row[31] : null,
    replayedAs: row[32],
    events: (parsed<string[]>(row[33]) ?? []).map((event) => JSON.parse(event) as JobEvent),
  }))
}

function parsed<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T)
}

export function settleOf(epoch: number | null, kind: number | null): JobRecord['lastSettle'] {
  return epoch === null || kind === null ? null : { epoch, kind: settleKinds[kind] as Outcome['kind'] }
}

/**
 * What stands for a kind in an index: FNV-1a of its UTF-16 units, as int4. Two kinds of one key only make a claim
 * read further, since it compares the kinds too. It is stored, so it must never change.
 */
export function kindKey(kind: string): number {
  let key = 0x811c9dc5
  for (let n = 0; n < kind.length; n++) key = Math.imul(key ^ kind.charCodeAt(n), 0x01000193)
  return key | 0
}
