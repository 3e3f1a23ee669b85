import { type JobRecord, isLastEviction } from '../../engine/jobs/record.ts'
import { claimed, epochOf, holds } from '../../engine/jobs/transitions.ts'
import type {
  ClaimParams,
  ClaimReply,
  ClaimedJob,
  LeaseRow,
  RecoverReply,
  RenewParams,
  RenewReply,
} from '../../engine/ports/store.ts'
import { type Content, put } from './content.ts'
import { before } from './ready.ts'

export function claim(content: Content, params: ClaimParams, nowMs: number): ClaimReply {
  const { token, worker } = params
  if (asksForNothing(params)) return { kind: 'claimed', jobs: [], soloWaiting: false }
  if (content.claims.has(token)) return { kind: 'void' }
  const { taken, soloWaiting } = choose(content, params, nowMs)
  if (taken.length === 0) return { kind: 'claimed', jobs: [], soloWaiting }
  const jobs = taken.map((job) => claimed(job, token, nowMs))
  for (const job of jobs) put(content, job)
  content.claims.set(token, { token, worker, madeAtMs: nowMs, jobs: jobs.map(({ spec }) => spec.id) })
  const ttls = [...new Set(jobs.map(({ spec }) => spec.leaseTtlMs))].sort((a, b) => a - b)
  content.leases.set(
    token,
    ttls.map((ttlMs) => ({ token, ttlMs, worker, expiresAtMs: nowMs + ttlMs })),
  )
  return {
    kind: 'claimed',
    jobs: jobs.map((job, k) => claimedJob(job, nowMs - (taken[k]?.visibleAtMs ?? nowMs))),
    soloWaiting,
  }
}

/** Answered before anything is looked at, the token included. */
function asksForNothing({ limit, queues, kinds }: ClaimParams): boolean {
  return limit <= 0 || kinds.length === 0 || !queues.some((queue) => queue.limit > 0)
}

/**
 * In claim order, as many as fit; a job on its last eviction only alone, and only for a worker that says so. A
 * job whose queue is paused or has no room left is no candidate, and holds nobody up.
 */
function choose(
  content: Content,
  params: ClaimParams,
  nowMs: number,
): { taken: JobRecord[]; soloWaiting: boolean } {
  const { kinds } = params
  const { hold, paused } = content.control
  if (hold) return { taken: [], soloWaiting: false }
  if (params.only !== undefined) return chooseOnly(content, params, params.only, nowMs)
  const room = new Map(
    params.queues
      .filter(({ queue, limit }) => limit > 0 && !paused.includes(queue))
      .map(({ queue, limit }) => [queue, limit]),
  )
  let queues = [...room.keys()]
  const firstSolo = (): JobRecord | null =>
    params.solo === 'pass' ? null : content.ready.first({ queues, kinds, solo: true }, nowMs)
  let solo = firstSolo()
  const taken: JobRecord[] = []
  while (taken.length < params.limit && queues.length > 0) {
    const next = content.ready.first({ queues, kinds, solo: false }, nowMs)
    if (solo && (!next || ranksBefore(solo, next))) {
      if (params.solo === 'await' || taken.length > 0) return { taken, soloWaiting: true }
      content.ready.remove(solo)
      return { taken: [solo], soloWaiting: false }
    }
    if (!next) break
    content.ready.remove(next)
    taken.push(next)
    const left = (room.get(next.spec.queue) ?? 0) - 1
    room.set(next.spec.queue, left)
    if (left > 0) continue
    queues = queues.filter((queue) => queue !== next.spec.queue)
    if (solo?.spec.queue === next.spec.queue) solo = firstSolo()
  }
  return { taken, soloWaiting: false }
}

function chooseOnly(
  { jobs, control, ready }: Content,
  { queues, kinds, solo }: ClaimParams,
  id: string,
  nowMs: number,
): { taken: JobRecord[]; soloWaiting: boolean } {
  const job = jobs.get(id)
  const due = job?.state === 'queued' && job.visibleAtMs !== null && job.visibleAtMs <= nowMs
  if (!due || !kinds.includes(job.spec.kind)) return { taken: [], soloWaiting: false }
  const { queue } = job.spec
  const open =
    queues.some((each) => each.queue === queue && each.limit > 0) && !control.paused.includes(queue)
  if (!open) return { taken: [], soloWaiting: false }
  if (isLastEviction(job) && solo !== 'take') return { taken: [], soloWaiting: solo === 'await' }
  ready.remove(job)
  return { taken: [job], soloWaiting: false }
}

function ranksBefore(a: JobRecord, b: JobRecord): boolean {
  return a.spec.band < b.spec.band || (a.spec.band === b.spec.band && before(a, b))
}

export function recover(
  content: Content,
  { token, worker }: { readonly token: string; readonly worker: string },
  nowMs: number,
): RecoverReply {
  const header = content.claims.get(token)
  if (!header) {
    content.claims.set(token, { token, worker: null, madeAtMs: nowMs, jobs: [] })
    return { kind: 'voided' }
  }
  if (header.worker === null) return { kind: 'voided' }
  extend(content, token, worker, nowMs)
  return { kind: 'recovered', jobs: jobsUnder(content, token).map((job) => claimedJob(job, null)) }
}

export function renew(content: Content, { worker, tokens }: RenewParams, nowMs: number): RenewReply {
  const held: RenewReply['held'][number][] = []
  for (const token of tokens) {
    if (content.claims.get(token)?.worker !== worker) continue
    extend(content, token, worker, nowMs)
    for (const job of jobsUnder(content, token)) {
      held.push({ ...epochOf(job), cancel: job.cancelRequestedAtMs !== null })
    }
  }
  return { held }
}

export function collect(
  content: Content,
  { limit, voidMs }: { readonly limit: number; readonly voidMs: number },
  nowMs: number,
): { removed: number } {
  let removed = 0
  for (const { token, worker, madeAtMs } of content.claims.values()) {
    if (removed >= limit) break
    const spent = worker === null ? nowMs - madeAtMs >= voidMs : jobsUnder(content, token).length === 0
    if (!spent) continue
    content.claims.delete(token)
    content.leases.delete(token)
    removed += 1
  }
  return { removed }
}

/** The running jobs that bear the token, in the order they were claimed. */
export function jobsUnder(content: Content, token: string): JobRecord[] {
  const ids = content.claims.get(token)?.jobs ?? []
  const jobs: JobRecord[] = []
  for (const id of ids) {
    const job = content.jobs.get(id)
    if (holds(job, token)) jobs.push(job)
  }
  return jobs
}

/** A lease that lapsed but was not taken is renewed like any other; one that was taken has no row left. */
function extend(content: Content, token: string, worker: string, nowMs: number): void {
  const rows = content.leases.get(token)
  if (!rows) return
  const renewed = (row: LeaseRow): LeaseRow =>
    row.worker === worker ? { ...row, expiresAtMs: nowMs + row.ttlMs } : row
  content.leases.set(token, rows.map(renewed))
}

function claimedJob(
  { spec, epoch, attempt, failures, evictions, seq }: JobRecord,
  waitedMs: number | null,
): ClaimedJob {
  return { spec, epoch, attempt, failures, evictions, waitedMs, seq }
}
