import { types } from 'node:util'
import { InvalidArgument } from '../errors.ts'
import { type Names, requireKnown, requireObject, requireWhole, shown } from '../given.ts'
import type { NewJob } from '../ports/store.ts'
import { requireMargin } from '../settings.ts'
import type { Coalescer } from './coalesce.ts'
import { type JobDescription, requireDefinition } from './definition.ts'
import { type Priority, priorities } from './job-settings.ts'
import { durationMsMax } from './figures.ts'
import { type StoredInput, storedInput } from './input.ts'
import { type Enqueued, type Prepared, type Producer, insertAll } from './insert.ts'
import { type LookupKeys, lookupKeys } from './keys.ts'
import type { JobSpec } from './record.ts'
import { requireId, requireName, textOf } from './text.ts'

export interface EnqueueOptions {
  /** Idempotency key: the same id with the same kind and input is one job. Default: a new random id. */
  readonly id?: string
  /** Default 0. Measured on the database's clock; not together with `runAt`. */
  readonly delayMs?: number
  /** An absolute time on the database's clock, from 1970 on. */
  readonly runAt?: Date
  readonly priority?: Priority
  readonly queue?: string
  /** This job's own lease, in place of the definition's. */
  readonly leaseTtlMs?: number
  readonly timeoutMs?: number
  /** How long it is kept once it has ended, in place of the definition's. */
  readonly keepMs?: number
  /** Whose job it is: a name of 1 - 512 characters, told to the handler and asked for by `list`. */
  readonly tenant?: string
  /** What the job is found by, such as `{ order: '4711', run: 'nightly' }`; whatever its case, blanks around it. */
  readonly keys?: LookupKeys
  /** Labels of your own; at most 16 KiB as JSON. */
  readonly metadata?: Readonly<Record<string, string>>
  /** W3C trace context, to be restored around the handler. */
  readonly traceparent?: string
}

export const enqueueOptions: Names<EnqueueOptions> = {
  id: true,
  delayMs: true,
  runAt: true,
  priority: true,
  queue: true,
  leaseTtlMs: true,
  timeoutMs: true,
  keepMs: true,
  tenant: true,
  keys: true,
  metadata: true,
  traceparent: true,
}

export interface InTransaction {
  /**
   * A transaction that the caller has begun, and ends: the jobs are there iff it is committed. On PostgreSQL and
   * PGlite a client with `query(text, params)` that answers `{ rows }`, on SQLite a handle of the store's file. Other
   * stores throw `InvalidArgument`. An error leaves the transaction to the caller, and nothing is repeated in it.
   * A delay counts from the begin of the transaction.
   */
  readonly in?: unknown
}

export interface EnqueueRequest<Input = unknown> extends EnqueueOptions {
  readonly job: JobDescription<Input>
  readonly input: Input
}

/**
 * Stores all jobs or none. Throws `InputInvalid`, `InvalidArgument`, `InvalidConfig` or `CodecFailed` before
 * anything is stored, `IdConflict` when an id is taken by another job, `StoreUnavailable` when the outcome is
 * unknown: enqueue again with the same ids then.
 */
export async function enqueueAll(
  producer: Producer,
  requests: readonly EnqueueRequest[],
  client?: unknown,
): Promise<Enqueued[]> {
  if (!Array.isArray(requests)) {
    throw new InvalidArgument(`enqueueMany takes a list of requests, not ${shown(requests)}`)
  }
  if (requests.length === 0) return []
  const jobs: Prepared[] = []
  for (const request of requests) {
    const job = newJob(producer, request)
    jobs.push(job instanceof Promise ? await job : job)
  }
  const ids = new Set(jobs.map(({ spec }) => spec.id))
  if (ids.size < jobs.length) throw new InvalidArgument('two jobs of one enqueue have the same id')
  return insertAll(producer, jobs, client)
}

/** One job, on its way together with others that are enqueued meanwhile. Throws as `enqueueAll` does. */
export async function enqueueOne(
  producer: Producer,
  coalescer: Coalescer,
  request: EnqueueRequest,
): Promise<Enqueued> {
  return coalescer.add(await newJob(producer, request))
}

const requestNames: Names<EnqueueRequest> = { job: true, input: true, ...enqueueOptions }

/** At once where nothing is waited for: of ten thousand jobs three promises each would cost more than all else. */
export function newJob(producer: Producer, request: EnqueueRequest): Prepared | Promise<Prepared> {
  requireObject('a request', request, InvalidArgument)
  if ('in' in request)
    throw new InvalidArgument('in is for all requests: enqueueMany(requests, { in: client })')
  requireKnown('a request', request, requestNames, InvalidArgument)
  const definition = request.job
  requireDefinition('enqueue takes a definition', definition, InvalidArgument)
  const id = request.id === undefined ? producer.random.id('job') : request.id
  requireId(id)
  const queue = request.queue ?? definition.settings.queue
  requireName('a queue name', queue, InvalidArgument)
  const band =
    request.priority === undefined ? definition.settings.band : priorities.indexOf(request.priority)
  if (band < 0) throw new InvalidArgument(`priority must be one of ${priorities.join(', ')}`)
  const input = storedInput(definition, request.input, producer.payloads)
  const place = { id, queue, band }
  return input instanceof Promise
    ? input.then((made) => prepared(producer, request, place, made))
    : prepared(producer, request, place, input)
}

function prepared(
  producer: Producer,
  request: EnqueueRequest,
  { id, queue, band }: Pick<JobSpec, 'id' | 'queue' | 'band'>,
  { json, stored }: StoredInput,
): Prepared {
  const { settings, name } = request.job
  const tenant = tenantOf(request.tenant)
  const spec: JobSpec = {
    id,
    kind: name,
    queue,
    band,
    input: stored,
    inputVersion: settings.inputVersion,
    maxAttempts: settings.maxAttempts,
    maxEvictions: settings.maxEvictions,
    backoffMs: settings.backoffMs,
    jitter: settings.jitter,
    leaseTtlMs: wholeMs('leaseTtlMs', request.leaseTtlMs ?? settings.leaseTtlMs, 1),
    timeoutMs: wholeMs('timeoutMs', request.timeoutMs ?? settings.timeoutMs, 1),
    keepMs: wholeMs('keepMs', request.keepMs ?? settings.keepMs, 0),
    tenant,
    keys: lookupKeys(request.keys, tenant),
    lineage: null,
    metadata: metadataOf(request.metadata),
    traceparent: traceparentOf(request.traceparent),
    enqueuedAtMs: producer.clock.wallMs(),
  }
  requireMargin(`job ${name}`, producer.intervals, producer.store.callMs, spec.leaseTtlMs)
  return { spec, json, due: dueOf(request) }
}

function tenantOf(tenant: string | undefined): string | null {
  if (tenant === undefined) return null
  requireName('a tenant', tenant, InvalidArgument)
  return tenant
}

const metadataBytesMax = 16_384

function metadataOf(metadata: Readonly<Record<string, string>> | undefined): JobSpec['metadata'] {
  if (metadata === undefined) return null
  const isRecord = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
  const entries = isRecord ? Object.entries(metadata) : []
  if (!isRecord || entries.some(([, value]) => typeof value !== 'string')) {
    throw new InvalidArgument('metadata must be a record of strings')
  }
  const sizeBytes = Buffer.byteLength(JSON.stringify(metadata))
  if (sizeBytes > metadataBytesMax) {
    throw new InvalidArgument(`metadata is ${sizeBytes} bytes, over the limit of ${metadataBytesMax}`)
  }
  return Object.fromEntries(entries)
}

/** Version ff and ids of zeros alone are invalid by the specification. */
const traceContext = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Whatever JavaScript passes. */
function traceparentOf(traceparent: unknown): string | null {
  if (traceparent === undefined) return null
  if (typeof traceparent === 'string' && traceContext.test(traceparent)) return traceparent
  throw new InvalidArgument(
    `traceparent is not W3C trace context: ${JSON.stringify(textOf(traceparent).slice(0, 80))}`,
  )
}

function dueOf({ delayMs, runAt }: EnqueueOptions): NewJob['due'] {
  if (delayMs !== undefined && runAt !== undefined)
    throw new InvalidArgument('give delayMs or runAt, not both')
  if (runAt === undefined) return { delayMs: wholeMs('delayMs', delayMs === undefined ? 0 : delayMs, 0) }
  // Of another realm it is a Date all the same.
  if (!types.isDate(runAt)) throw new InvalidArgument(`runAt must be a Date, not ${shown(runAt)}`)
  return { atMs: wholeMs('runAt', runAt.getTime(), 0) }
}

function wholeMs(name: string, value: number, min: number): number {
  const max = name === 'runAt' ? Number.MAX_SAFE_INTEGER : durationMsMax
  return requireWhole(name, value, { min, max }, InvalidArgument)
}
