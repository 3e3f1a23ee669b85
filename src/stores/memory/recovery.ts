import type { JobRecord } from '../../engine/jobs/record.ts'
import { reclaimed, takenBack, takenTo, timedOut } from '../../engine/jobs/transitions.ts'
import type { AdoptReply, LeaseRow, ReclaimReply, TimeoutReply } from '../../engine/ports/store.ts'
import { jobsUnder } from './claims.ts'
import { type Content, put } from './content.ts'
import { silentLeases } from './silent.ts'
import { quietForMs } from './watch.ts'

export function reclaim(
  content: Content,
  { limit }: { readonly limit: number },
  nowMs: number,
): ReclaimReply {
  const none = { jobs: [], heldBack: 0, full: false }
  if (limit <= 0) return none
  const silent = silentLeases(content, nowMs)
  if (silent.length === 0) return none
  const seenMs = quietForMs(content, nowMs)
  const takeable = silent.filter(({ ttlMs }) => seenMs >= ttlMs)
  const jobs: JobRecord[] = []
  for (const row of takeable.slice(0, limit)) jobs.push(...takeLease(content, row, nowMs))
  return {
    jobs: jobs.map(takenBack),
    heldBack: silent.length - takeable.length,
    full: takeable.length > limit,
  }
}

function takeLease(content: Content, lease: LeaseRow, nowMs: number): JobRecord[] {
  const left = (content.leases.get(lease.token) ?? []).filter(({ ttlMs }) => ttlMs !== lease.ttlMs)
  if (left.length > 0) content.leases.set(lease.token, left)
  else content.leases.delete(lease.token)
  const jobs = jobsUnder(content, lease.token)
    .filter(({ spec }) => spec.leaseTtlMs === lease.ttlMs)
    .map((job) => reclaimed(job, nowMs))
  for (const job of jobs) put(content, job)
  return jobs
}

/** Running jobs whose claim has no lease row of their TTL. */
export function adopt(
  content: Content,
  { limit, silentMs }: { readonly limit: number; readonly silentMs: number },
  nowMs: number,
): AdoptReply {
  if (limit <= 0 || quietForMs(content, nowMs) < silentMs) return { jobs: [] }
  const unleased: JobRecord[] = []
  for (const { token, madeAtMs } of content.claims.values()) {
    if (nowMs - madeAtMs < silentMs) continue
    const ttls = (content.leases.get(token) ?? []).map(({ ttlMs }) => ttlMs)
    unleased.push(...jobsUnder(content, token).filter(({ spec }) => !ttls.includes(spec.leaseTtlMs)))
  }
  unleased.sort((a, b) => (a.claimedAtMs ?? 0) - (b.claimedAtMs ?? 0) || a.seq - b.seq)
  const jobs = unleased.slice(0, limit).map((job) => reclaimed(job, nowMs))
  for (const job of jobs) put(content, job)
  return { jobs: jobs.map(takenBack) }
}

export function expireTimeouts(
  content: Content,
  { limit }: { readonly limit: number },
  nowMs: number,
): TimeoutReply {
  if (limit <= 0) return { jobs: [] }
  const seenMs = quietForMs(content, nowMs)
  const late: JobRecord[] = []
  for (const token of content.claims.keys()) {
    for (const job of jobsUnder(content, token)) {
      const boundMs = job.spec.timeoutMs + job.spec.leaseTtlMs
      if (seenMs >= boundMs && nowMs - (job.claimedAtMs ?? nowMs) >= boundMs) late.push(job)
    }
  }
  late.sort((a, b) => (a.claimedAtMs ?? 0) - (b.claimedAtMs ?? 0) || a.seq - b.seq)
  const jobs = late.slice(0, limit).map((job) => timedOut(job, nowMs))
  for (const job of jobs) put(content, job)
  return {
    jobs: jobs.map((job) => ({
      id: job.spec.id,
      epoch: job.epoch,
      failures: job.failures,
      state: takenTo(job),
    })),
  }
}
