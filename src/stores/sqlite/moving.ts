import type { JobError, JobRecord, Progress } from '../../engine/jobs/record.ts'
import {
  eventsOf,
  eventsText,
  parsed,
  placeOf,
  runningState,
  settleKinds,
  settleOf,
  stateOf,
  states,
} from './rows.ts'
import type { Operation } from './statements.ts'

/**
 * Jobs on their way through a transition of `engine/jobs/transitions.ts`: read lean, changed there, written
 * back, so that the rules are written once, in the engine.
 */

type MovingRow = readonly [
  seq: number,
  id: string,
  state: number,
  epoch: number,
  attempt: number,
  failures: number,
  evictions: number,
  version: number,
  error: string | null,
  settleEpoch: number | null,
  settleKind: number | null,
  cancelRequestedAtMs: number | null,
  progress: string | null,
  lastCommand: string | null,
  replayedAs: string | null,
  events: string | null,
  deadAtMs: number | null,
  maxAttempts: number,
  maxEvictions: number,
  backoffMs: string,
  leaseTtlMs: number,
  timeoutMs: number,
  place: number,
]
const movingColumns = `j.seq, b.id, j.state, j.epoch, j.attempt, j.failures, j.evictions, j.version, j.error,
  j.settle_epoch, j.settle_kind, j.cancel_requested_at, j.progress, j.last_command, j.replayed_as, j.events,
  j.dead_at, b.max_attempts, b.max_evictions, b.backoff_ms, b.lease_ttl_ms, b.timeout_ms`

const byId = `select ${movingColumns}, 0
  from holdfast_body b join holdfast_job j on j.seq = b.seq where b.id = ?`

const underClaim = `select ${movingColumns}, e.key
  from json_each(?) e cross join holdfast_job j on j.seq = e.value join holdfast_body b on b.seq = j.seq
  where j.claim = ? and b.lease_ttl_ms = ?`

/** Late attempts of all claims whose bound has passed, the longest running first. */
const late = `select ${movingColumns}, 0
  from holdfast_claim c cross join json_each(c.jobs) e cross join holdfast_job j on j.seq = e.value
  join holdfast_body b on b.seq = j.seq
  where c.bound_ms <= ? and c.made_at <= holdfast_now() - c.bound_ms and j.claim = c.claim
  and b.timeout_ms + b.lease_ttl_ms <= ? and c.made_at <= holdfast_now() - b.timeout_ms - b.lease_ttl_ms
  order by c.made_at, j.seq limit ? + 0`

/**
 * Jobs under old claims that have no lease row of their TTL. Only claims of that age are read, and of each its
 * jobs: with 5,000 long running ones that is 1.2 ms, and with young ones nothing. A job without a claim row is in
 * no list, and nobody knows since when it runs.
 */
const unleased = `select ${movingColumns}, 0
  from holdfast_claim c cross join json_each(c.jobs) e cross join holdfast_job j on j.seq = e.value
  join holdfast_body b on b.seq = j.seq
  where c.made_at <= ? and c.worker is not null and j.claim = c.claim
  and not exists (select 1 from holdfast_lease l where l.claim = c.claim and l.ttl_ms = b.lease_ttl_ms)
  order by c.made_at, j.seq limit ? + 0`

export function movingJob(operation: Operation, id: string): JobRecord | null {
  const row = operation.query<MovingRow>(byId).get(id)
  return row ? movingOf(row) : null
}

/** The running jobs of one lease row, in the order they were claimed. `seqs` is the claim's list. */
export function jobsUnderLease(
  operation: Operation,
  lease: { readonly claim: number; readonly ttlMs: number; readonly seqs: string },
): JobRecord[] {
  const rows = operation.query<MovingRow>(underClaim).all(lease.seqs, lease.claim, lease.ttlMs)
  return rows.sort((a, b) => a[22] - b[22]).map(movingOf)
}

/** Running jobs beyond `timeoutMs + leaseTtlMs`, as far as that much of it was seen. */
export function lateJobs(operation: Operation, seenMs: number, limit: number): JobRecord[] {
  return operation.query<MovingRow>(late).all(seenMs, seenMs, limit).map(movingOf)
}

/** Running jobs that no lease row stands for, claimed no later than `madeAtMs`; the oldest claim first. */
export function unleasedJobs(operation: Operation, madeAtMs: number, limit: number): JobRecord[] {
  return operation.query<MovingRow>(unleased).all(madeAtMs, limit).map(movingOf)
}

const running = `select ${movingColumns}, 0 from holdfast_job j join holdfast_body b on b.seq = j.seq
  where j.state = ${runningState} order by j.seq`

/** All that run, in order of insertion: this reads all jobs there are. */
export function runningJobs(operation: Operation): JobRecord[] {
  return operation.query<MovingRow>(running).all().map(movingOf)
}

/** What no transition reads is blank: such a record is for `putMoved` alone, and never leaves the store. */
function movingOf(row: MovingRow): JobRecord {
  return {
    spec: {
      id: row[1],
      kind: '',
      queue: '',
      band: 0,
      input: '',
      inputVersion: 0,
      maxAttempts: row[17],
      maxEvictions: row[18],
      backoffMs: JSON.parse(row[19]) as readonly number[],
      jitter: false,
      leaseTtlMs: row[20],
      timeoutMs: row[21],
      tenant: null,
      keys: [],
      keepMs: 0,
      lineage: null,
      metadata: null,
      traceparent: null,
      enqueuedAtMs: 0,
    },
    state: stateOf(row[2]),
    epoch: row[3],
    attempt: row[4],
    failures: row[5],
    evictions: row[6],
    version: row[7],
    seq: row[0],
    visibleAtMs: null,
    token: null,
    claimedAtMs: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    finishedAtMs: null,
    cancelRequestedAtMs: row[11],
    progress: parsed<Progress>(row[12]),
    result: null,
    error: parsed<JobError>(row[8]),
    lastSettle: settleOf(row[9], row[10]),
    lastCommand: row[13],
    deadAtMs: row[16],
    replayedAs: row[14],
    events: eventsOf(row[15]),
  }
}

/** None of these transitions starts an attempt; all but a request to cancel end it, and its claim. */
const put = `update holdfast_job set state = ?, solo = ?, epoch = ?, failures = ?, evictions = ?, version = ?,
  visible_at = ?, claim = iif(? = ${runningState}, claim, null), updated_at = ?, finished_at = ?,
  settle_epoch = ?, settle_kind = ?, cancel_requested_at = ?, progress = ?, last_command = ?, result = ?, error = ?,
  dead_at = ?, replayed_as = ?, events = ?
  where seq = ?`

export function putMoved(operation: Operation, job: JobRecord): void {
  const state = states.indexOf(job.state)
  operation
    .command(put)
    .run(
      state,
      placeOf(job),
      job.epoch,
      job.failures,
      job.evictions,
      job.version,
      job.visibleAtMs,
      state,
      job.updatedAtMs,
      job.finishedAtMs,
      job.lastSettle?.epoch ?? null,
      job.lastSettle === null ? null : settleKinds.indexOf(job.lastSettle.kind),
      job.cancelRequestedAtMs,
      job.progress === null ? null : JSON.stringify(job.progress),
      job.lastCommand,
      job.result,
      job.error === null ? null : JSON.stringify(job.error),
      job.deadAtMs,
      job.replayedAs,
      eventsText(job.events),
      job.seq,
    )
}

/** A dead letter that was replayed or discarded: how it failed stays as it is. */
const close = `update holdfast_job set version = ?, updated_at = ?, last_command = ?, dead_at = ?, replayed_as = ?,
  events = ? where seq = ?`

export function putClosed(operation: Operation, job: JobRecord): void {
  const { version, updatedAtMs, lastCommand, deadAtMs, replayedAs, events, seq } = job
  operation
    .command(close)
    .run(version, updatedAtMs, lastCommand, deadAtMs, replayedAs, eventsText(events), seq)
}
