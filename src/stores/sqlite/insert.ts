import { sameJson } from '../../engine/jobs/json.ts'
import { created } from '../../engine/jobs/transitions.ts'
import type { InsertParams, InsertReply, InsertsWithin, NewJob } from '../../engine/ports/store.ts'
import { beyondText } from '../beyond.ts'
import { labelsText } from '../labels.ts'
import { placeOf, queuedState } from './rows.ts'
import type { Operation } from './statements.ts'
import { timelineOf } from './timeline.ts'

/**
 * Looks at every id first, so that a conflict inserts nothing, and then inserts one by one: inside one
 * transaction a prepared statement a row is as fast as any bulk form, and answers each job's own outcome.
 */
export function insert(operation: Operation, { insertId, jobs }: InsertParams): InsertReply {
  const there = new Map(jobs.map(({ spec }) => [spec.id, find(operation, spec.id)]))
  const conflicts = jobs.filter((job) => clashes(there.get(job.spec.id), job)).map(({ spec }) => spec.id)
  if (conflicts.length > 0) return { kind: 'conflict', ids: conflicts }
  const timeline = timelineOf(operation)
  const replies = jobs.map((job) => {
    const { id } = job.spec
    const found = there.get(id)
    if (found) return { id, created: found.insertId === insertId }
    add(operation, { insertId, timeline }, job)
    there.set(id, { kind: job.spec.kind, input: job.spec.input, insertId })
    return { id, created: true }
  })
  return { kind: 'inserted', jobs: replies }
}

/** Leaves out what is there already, whatever it is; answers the ids of the others. */
export function insertAbsent(operation: Operation, { insertId, jobs }: InsertParams): string[] {
  const absent = jobs.filter(({ spec }) => !find(operation, spec.id))
  const timeline = timelineOf(operation)
  for (const job of absent) add(operation, { insertId, timeline }, job)
  return absent.map(({ spec }) => spec.id)
}

interface Found {
  readonly kind: string
  readonly input: string
  readonly insertId: string
}

const byId = `select j.kind, b.input, b.insert_id
  from holdfast_body b join holdfast_job j on j.seq = b.seq where b.id = ?`

function find(operation: Operation, id: string): Found | undefined {
  const row = operation.query<[kind: string, input: string, insertId: string]>(byId).get(id)
  return row && { kind: row[0], input: row[1], insertId: row[2] }
}

/** What a job that is there says of itself. */
export function stated(operation: Operation, id: string): Awaited<ReturnType<InsertsWithin['get']>> {
  const found = find(operation, id)
  return found ? { spec: { kind: found.kind, input: found.input } } : null
}

function clashes(there: Found | undefined, { spec }: NewJob): boolean {
  return there !== undefined && !(there.kind === spec.kind && sameJson(there.input, spec.input))
}

const addJob = `insert into holdfast_job (queue, kind, band, state, solo, epoch, attempt, failures, evictions,
  version, visible_at, updated_at) values (?, ?, ?, ${queuedState}, ?, ?, ?, ?, ?, ?, ?, ?)`
const addBody = `insert into holdfast_body (seq, id, input_version, max_attempts, max_evictions, backoff_ms, jitter,
  lease_ttl_ms, timeout_ms, keep_ms, labels, metadata, traceparent, beyond, enqueued_at, created_at, insert_id, input)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const addKey = 'insert into holdfast_lookup (key, seq) values (?, ?)'

function add(
  operation: Operation,
  { insertId, timeline }: { readonly insertId: string; readonly timeline: number },
  { spec, due }: NewJob,
): void {
  const { nowMs } = operation
  const visibleAtMs = 'atMs' in due ? due.atMs : 'delayMs' in due ? nowMs + due.delayMs : null
  const job = created(spec, 0, visibleAtMs, { nowMs, timeline })
  const { lastInsertRowid } = operation
    .command(addJob)
    .run(
      spec.queue,
      spec.kind,
      spec.band,
      placeOf(job),
      job.epoch,
      job.attempt,
      job.failures,
      job.evictions,
      job.version,
      job.visibleAtMs,
      job.updatedAtMs,
    )
  const seq = Number(lastInsertRowid)
  operation
    .command(addBody)
    .run(
      seq,
      spec.id,
      spec.inputVersion,
      spec.maxAttempts,
      spec.maxEvictions,
      JSON.stringify(spec.backoffMs),
      spec.jitter ? 1 : 0,
      spec.leaseTtlMs,
      spec.timeoutMs,
      spec.keepMs,
      labelsText(spec),
      spec.metadata === null ? null : JSON.stringify(spec.metadata),
      spec.traceparent,
      beyondText(spec),
      spec.enqueuedAtMs,
      job.createdAtMs,
      insertId,
      spec.input,
    )
  for (const key of spec.keys) operation.command(addKey).run(key, seq)
}
