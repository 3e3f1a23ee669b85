import type { JobRecord } from '../../engine/jobs/record.ts'
import { tenantKey } from '../../engine/jobs/keys.ts'
import type { ListParams, ListReply, QueueCounts } from '../../engine/ports/queries.ts'
import { pageLimit, pageOf, seqBefore } from '../paging.ts'
import { type Content, byText } from './content.ts'

/** It looks at all that it holds, which in memory is little. */
export function list({ jobs }: Content, params: ListParams): ListReply {
  const limit = pageLimit(params.limit)
  const before = params.cursor === null ? Number.POSITIVE_INFINITY : Number(seqBefore(params.cursor))
  const lets = filterOf(params)
  const found = [...jobs.values()]
    .filter((job) => job.seq < before && lets(job))
    .sort((a, b) => b.seq - a.seq)
  const { rows, next } = pageOf(found, limit, ({ seq }) => String(seq))
  return { jobs: params.payloads ? rows : rows.map(withoutPayloads), next }
}

function filterOf(params: ListParams): (job: JobRecord) => boolean {
  const { states, kinds, queues, tenant, keys = [], createdFromMs, createdToMs, dead } = params
  const all = typeof tenant === 'string' ? [...keys, tenantKey(tenant)] : keys
  return ({ spec, state, createdAtMs, deadAtMs }) =>
    (states?.includes(state) ?? true) &&
    (kinds?.includes(spec.kind) ?? true) &&
    (queues?.includes(spec.queue) ?? true) &&
    (tenant !== null || spec.tenant === null) &&
    all.every((key) => spec.keys.includes(key)) &&
    (createdFromMs === undefined || createdAtMs >= createdFromMs) &&
    (createdToMs === undefined || createdAtMs < createdToMs) &&
    (dead === undefined || dead === (deadAtMs !== null))
}

function withoutPayloads(job: JobRecord): JobRecord {
  return { ...job, spec: { ...job.spec, input: '' }, result: null }
}

export function counts({ jobs }: Content, nowMs: number): QueueCounts[] {
  const queues = new Map<string, { -readonly [K in keyof QueueCounts]: QueueCounts[K] }>()
  for (const job of jobs.values()) {
    const what = counted(job, nowMs)
    if (what === null) continue
    const { queue } = job.spec
    let count = queues.get(queue)
    if (!count)
      queues.set(queue, (count = { queue, due: 0, delayed: 0, undispatched: 0, running: 0, dead: 0 }))
    count[what] += 1
  }
  return [...queues.values()].sort((a, b) => byText(a.queue, b.queue))
}

/** As what a job counts, if at all. */
function counted(job: JobRecord, nowMs: number): Exclude<keyof QueueCounts, 'queue'> | null {
  const { state, visibleAtMs, deadAtMs } = job
  if (state === 'running') return 'running'
  if (state !== 'queued') return deadAtMs === null ? null : 'dead'
  if (visibleAtMs === null) return 'undispatched'
  return visibleAtMs <= nowMs ? 'due' : 'delayed'
}
