import { InvalidArgument } from '../../engine/errors.ts'
import type { LookupKeys } from '../../engine/jobs/keys.ts'
import type { JobSummary, ListOptions } from '../../engine/jobs/queries.ts'
import type { JobRecord, JobState } from '../../engine/jobs/record.ts'
import type { QueueCounts } from '../../engine/ports/queries.ts'
import { count, quoted } from '../../report/format.ts'
import { type ListColumn, listing } from '../listing.ts'
import { refuseOptions } from '../options.ts'
import type { ExitCode } from '../place.ts'
import { ago, duration } from '../when.ts'
import { oneJob, stateOf, whyOf } from './job.ts'
import { type OperateOptions, operate } from './operate.ts'

export interface JobsOptions extends OperateOptions {
  readonly state?: readonly string[]
  readonly kind?: readonly string[]
  readonly queue?: readonly string[]
  readonly tenant?: string
  /** As `dimension=value`. */
  readonly key?: readonly string[]
  readonly limit?: number
  readonly cursor?: string
  readonly counts?: boolean
}

const filters = ['state', 'kind', 'queue', 'tenant', 'key', 'limit', 'cursor'] as const

/** Many jobs, one, or how many there are. */
export async function jobs(id: string | undefined, options: JobsOptions): Promise<ExitCode> {
  if (id !== undefined) {
    refuseOptions(options, [...filters, 'counts'], 'of one job')
    return oneJob(id, options)
  }
  if (!options.counts) return listed(options)
  refuseOptions(options, filters, 'beside --counts')
  return counted(options)
}

async function listed(options: JobsOptions): Promise<ExitCode> {
  const query = { ...queryOf(options), payloads: false } as const
  return operate(options, async (engine) => {
    const page = await engine.list(query)
    const nowMs = await engine.store.now()
    const rows = page.jobs.map((job) => rowOf(job, nowMs))
    const says = rows.length === 0 ? ['there is no such job'] : listing(columns, rows)
    return { says: [...says, ...moreOf(page)].join('\n'), data: page }
  })
}

/** How to see what a page has not shown. */
export function moreOf({ next }: { readonly next: string | null }): string[] {
  return next === null ? [] : ['', `more: --cursor ${quoted(next)}`]
}

function queryOf({ state, key, kind, queue, tenant, limit, cursor }: JobsOptions): ListOptions {
  return {
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
    // Whether it is one, the engine says.
    ...(state && { state: state as readonly JobState[] }),
    ...(kind && { kind }),
    ...(queue && { queue }),
    ...(tenant !== undefined && { tenant }),
    ...(key && { keys: keysOf(key) }),
  }
}

function keysOf(given: readonly string[]): LookupKeys {
  const keys = new Map<string, string[]>()
  for (const text of given) {
    const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? []
    if (name === undefined || value === undefined) {
      throw new InvalidArgument(`--key takes DIMENSION=VALUE, not ${JSON.stringify(text)}`)
    }
    keys.set(name, [...(keys.get(name) ?? []), value])
  }
  return Object.fromEntries(keys)
}

const columns: readonly ListColumn[] = [
  { title: 'state' },
  { title: 'when' },
  { title: 'attempt', right: true },
  { title: 'kind', cut: true },
  { title: 'queue', cut: true },
  { title: 'why', cut: true },
  { title: 'job' },
]

function rowOf(job: JobSummary | JobRecord, nowMs: number): string[] {
  const { id, kind, queue } = job.spec
  return [stateOf(job), whenOf(job, nowMs), count(job.attempt), kind, queue, whyOf(job), id]
}

/** Since when it is what it is; of what waits, when it is due. */
function whenOf({ finishedAtMs, visibleAtMs, claimedAtMs, createdAtMs }: JobSummary, nowMs: number): string {
  if (finishedAtMs === null && visibleAtMs === null && claimedAtMs !== null) {
    return `for ${duration(nowMs - claimedAtMs)}`
  }
  return ago(finishedAtMs ?? visibleAtMs ?? createdAtMs, nowMs)
}

function counted(options: OperateOptions): Promise<ExitCode> {
  return operate(options, async (engine) => {
    const queues = await engine.counts()
    const says = queues.length === 0 ? ['nothing waits, runs or is a dead letter'] : countsTable(queues)
    return { says: says.join('\n'), data: { queues } }
  })
}

const counting = ['due', 'delayed', 'undispatched', 'running', 'dead'] as const

function countsTable(queues: readonly QueueCounts[]): string[] {
  const numbers = counting.map((title) => ({ title, right: true }))
  const rows = queues.map((each) => [...counting.map((what) => count(each[what])), each.queue])
  return listing([...numbers, { title: 'queue' }], rows)
}
