import { types } from 'node:util'
import { InvalidArgument } from '../errors.ts'
import { type Names, optionsOf, requireObject, requireWhole, shown } from '../given.ts'
import { type ListParams, type ListReply, type QueueCounts, listLimitMax } from '../ports/queries.ts'
import type { Store } from '../ports/store.ts'
import type { StoreHealth } from '../store-health.ts'
import { type JobMoment, momentsOf } from './events.ts'
import { type Lanes, lanesOf, listOf } from './filters.ts'
import { type LookupKeys, lookupKeys } from './keys.ts'
import { type Payloads, plainRecord } from './payloads.ts'
import { type JobRecord, type JobSpec, type JobState, jobStates } from './record.ts'
import { requireId, requireName } from './text.ts'

/** What can be asked about many jobs, through any engine on the store. Nothing here changes anything. */
export interface Queries {
  /**
   * One page of the jobs that all filters let through, the newest first. Pages read one after the other hold each job
   * that was there all the time exactly once. Keys and tenant have an index; the other filters read back from the
   * newest job until the page is full, so that rare hits in a large store take their time. Throws `InvalidArgument`;
   * `CodecFailed` if a payload of the page cannot be decoded, which `payloads: false` does without.
   */
  list<P extends boolean = true>(options?: ListOptions & WithPayloads<P>): Promise<JobPage<Listed<P>>>
  /** All pages, each read when it is asked for; `limit` is how many jobs one has. */
  listAll<P extends boolean = true>(
    options?: ListOptions & WithPayloads<P>,
  ): AsyncIterable<JobPage<Listed<P>>>
  /** All jobs that have these keys, in one query, the newest first: at most 10,000 of them, `more` if there are more. */
  jobsOf<P extends boolean = true>(
    keys: LookupKeys,
    options?: Pick<ListOptions, 'tenant'> & WithPayloads<P>,
  ): Promise<{ readonly jobs: readonly Listed<P>[]; readonly more: boolean }>
  /** How many jobs each queue has that is not empty, in UTF-8 order of queues; jobs that are over cost nothing. */
  counts(): Promise<readonly QueueCounts[]>
  /** What became of a job, oldest first; null if there is none. The last 20 of what was out of the ordinary are kept. */
  events(id: string): Promise<readonly JobMoment[] | null>
}

export interface ListOptions extends Lanes {
  /** How many jobs one page has at most: 1 to 1,000, default 50. */
  readonly limit?: number
  /** The `next` of the page before; null or left out: from the newest on. */
  readonly cursor?: string | null
  readonly state?: JobState | readonly JobState[]
  /** Null: only jobs of nobody. */
  readonly tenant?: string | null
  /** All must be among those of a job; whatever their case, blanks around them. */
  readonly keys?: LookupKeys
  /** By the database's clock; inclusive. */
  readonly createdFrom?: Date
  /** By the database's clock; exclusive. */
  readonly createdTo?: Date
  /** Whether it is a dead letter that waits for somebody. */
  readonly dead?: boolean
}

export interface WithPayloads<P extends boolean> {
  /** False: without `spec.input` and `result`, which may be large, and which a table does not show. Default true. */
  readonly payloads?: P
}

/** A job without what it carries. */
export interface JobSummary extends Omit<JobRecord, 'spec' | 'result'> {
  readonly spec: Omit<JobSpec, 'input'>
}
export type Listed<P extends boolean> = P extends false ? JobSummary : JobRecord

export interface JobPage<Job> {
  readonly jobs: readonly Job[]
  /** Give it as `cursor` to go on; null: this was the last page. */
  readonly next: string | null
}

const limitDefault = 50
const limitMax = 1_000

export function createQueries(store: Store, payloads: Payloads, ask: StoreHealth['ask']): Queries {
  async function page<P extends boolean>(params: ListParams): Promise<JobPage<Listed<P>>> {
    const reply: ListReply = await ask('queries.list', store.queries.list(params))
    const jobs = params.payloads
      ? await Promise.all(reply.jobs.map((job) => plainRecord(payloads, job)))
      : reply.jobs.map(summaryOf)
    // `payloads` says which of the two they are.
    return { jobs: jobs as readonly unknown[] as readonly Listed<P>[], next: reply.next }
  }

  async function* pages<P extends boolean>(params: ListParams): AsyncGenerator<JobPage<Listed<P>>, void> {
    let { cursor } = params
    do {
      const next: JobPage<Listed<P>> = await page({ ...params, cursor })
      yield next
      cursor = next.next
    } while (cursor !== null)
  }

  return {
    list: async (options) => page(paramsOf(options)),
    listAll: (options) => pages(paramsOf(options)),
    jobsOf: async <P extends boolean>(
      keys: LookupKeys,
      options?: Pick<ListOptions, 'tenant'> & WithPayloads<P>,
    ) => {
      requireObject('keys', keys, InvalidArgument)
      const { tenant, payloads: carried } = optionsOf(options, { tenant: true, payloads: true })
      const params = paramsOf({
        keys,
        ...(tenant !== undefined && { tenant }),
        ...(carried !== undefined && { payloads: carried }),
      })
      if (params.keys?.length === 0) throw new InvalidArgument('keys must name at least one key')
      const { jobs, next } = await page<P>({ ...params, limit: listLimitMax })
      return { jobs, more: next !== null }
    },
    counts: () => ask('queries.counts', store.queries.counts()),
    events: async (id) => {
      requireId(id)
      const job = await ask('jobs.get', store.jobs.get({ id }))
      return job && momentsOf(job)
    },
  }
}

function summaryOf({ result: _result, spec: { input: _input, ...spec }, ...job }: JobRecord): JobSummary {
  return { ...job, spec }
}

const listOptions: Names<ListOptions & WithPayloads<boolean>> = {
  limit: true,
  cursor: true,
  state: true,
  kind: true,
  queue: true,
  tenant: true,
  keys: true,
  createdFrom: true,
  createdTo: true,
  dead: true,
  payloads: true,
}

function paramsOf(given: (ListOptions & WithPayloads<boolean>) | undefined): ListParams {
  const options: ListOptions & WithPayloads<boolean> = optionsOf(given, listOptions)
  const { limit = limitDefault, cursor = null, state, keys, dead, payloads = true } = options
  requireWhole('limit', limit, { min: 1, max: limitMax }, InvalidArgument)
  if (cursor !== null && typeof cursor !== 'string') {
    throw new InvalidArgument(`cursor must be the next of a page, not ${shown(cursor)}`)
  }
  const tenant = tenantOf(options.tenant)
  const createdFromMs = instantOf('createdFrom', options.createdFrom)
  const createdToMs = instantOf('createdTo', options.createdTo)
  return {
    limit,
    cursor,
    ...(state !== undefined && { states: listOf('state', state, requireState) }),
    ...lanesOf(options),
    ...(tenant !== undefined && { tenant }),
    ...(keys !== undefined && { keys: lookupKeys(keys, null) }),
    ...(createdFromMs !== undefined && { createdFromMs }),
    ...(createdToMs !== undefined && { createdToMs }),
    ...(dead !== undefined && { dead: flagOf('dead', dead) }),
    payloads: flagOf('payloads', payloads),
  }
}

function requireState(what: string, value: unknown): void {
  if (jobStates.includes(value as JobState)) return
  throw new InvalidArgument(`${what} must be of ${jobStates.join(', ')}, not ${shown(value)}`)
}

function tenantOf(tenant: string | null | undefined): string | null | undefined {
  if (tenant !== undefined && tenant !== null) requireName('a tenant', tenant, InvalidArgument)
  return tenant
}

function flagOf(what: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new InvalidArgument(`${what} must be true or false, not ${shown(value)}`)
}

function instantOf(what: string, date: Date | undefined): number | undefined {
  if (date === undefined) return undefined
  const atMs = types.isDate(date) ? date.getTime() : Number.NaN
  if (Number.isSafeInteger(atMs)) return atMs
  throw new InvalidArgument(`${what} must be a valid Date, not ${shown(date)}`)
}
