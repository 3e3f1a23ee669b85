import type { JobRecord } from '../../engine/jobs/record.ts'
import type {
  Control,
  LeaseRow,
  LogOfJob,
  NamedLease,
  StoreDump,
  WatchState,
} from '../../engine/ports/store.ts'
import type { ScheduleRow } from '../../engine/ports/schedules.ts'
import { type Ready, createReady } from './ready.ts'

/** A claim's header row with the jobs it took; `worker` null is a void header. */
export interface ClaimRow {
  readonly token: string
  readonly worker: string | null
  readonly madeAtMs: number
  readonly jobs: readonly string[]
}

/** Everything that the memory store holds. Rows are immutable; a write replaces them. */
export interface Content {
  readonly jobs: Map<string, JobRecord>
  readonly insertIds: Map<string, string>
  readonly claims: Map<string, ClaimRow>
  /** Token to its lease rows by TTL, rising. */
  readonly leases: Map<string, readonly LeaseRow[]>
  readonly ready: Ready
  /** Ids of queued jobs without a place in the queue, oldest first. */
  readonly undispatched: Set<string>
  /** Ids of the dead letters, in no particular order. */
  readonly dead: Set<string>
  /** Job id to its checkpoints by key. */
  readonly checkpoints: Map<string, ReadonlyMap<string, string>>
  /** Job id to its log. */
  readonly logs: Map<string, LogOfJob>
  readonly named: Map<string, NamedLease>
  readonly schedules: Map<string, ScheduleRow>
  control: Control
  watch: WatchState | null
  timeline: number
  /** The command that began it. */
  restoredBy: string | null
  seq: number
}

export function createContent(): Content {
  const jobs = new Map<string, JobRecord>()
  return {
    jobs,
    insertIds: new Map(),
    claims: new Map(),
    leases: new Map(),
    ready: createReady((id) => jobs.get(id)),
    undispatched: new Set(),
    dead: new Set(),
    checkpoints: new Map(),
    logs: new Map(),
    named: new Map(),
    schedules: new Map(),
    control: { hold: false, paused: [] },
    watch: null,
    timeline: 0,
    restoredBy: null,
    seq: 0,
  }
}

/** Writes a job, keeping the claim order in step. */
export function put(content: Content, changed: JobRecord): void {
  const job = shaped(changed)
  content.jobs.set(job.spec.id, job)
  if (job.state === 'queued' && job.visibleAtMs === null) content.undispatched.add(job.spec.id)
  else content.undispatched.delete(job.spec.id)
  if (job.deadAtMs !== null) content.dead.add(job.spec.id)
  else if (content.dead.size > 0) content.dead.delete(job.spec.id)
  if (job.state === 'queued' && job.visibleAtMs !== null) content.ready.add(job)
}

/**
 * Its fields written out: records that one literal made have one shape, and are read and copied several times
 * as fast as those that came of one spread after the other.
 */
function shaped(job: JobRecord): JobRecord {
  return {
    spec: job.spec,
    state: job.state,
    epoch: job.epoch,
    attempt: job.attempt,
    failures: job.failures,
    evictions: job.evictions,
    version: job.version,
    seq: job.seq,
    visibleAtMs: job.visibleAtMs,
    token: job.token,
    claimedAtMs: job.claimedAtMs,
    createdAtMs: job.createdAtMs,
    updatedAtMs: job.updatedAtMs,
    finishedAtMs: job.finishedAtMs,
    cancelRequestedAtMs: job.cancelRequestedAtMs,
    progress: job.progress,
    result: job.result,
    error: job.error,
    lastSettle: job.lastSettle,
    lastCommand: job.lastCommand,
    deadAtMs: job.deadAtMs,
    replayedAs: job.replayedAs,
    events: job.events,
  }
}

export function dumpOf(content: Content): StoreDump {
  const { jobs, claims, leases, watch, checkpoints, logs, named, control, schedules, timeline } = content
  return {
    jobs: [...jobs.values()].sort((a, b) => byText(a.spec.id, b.spec.id)),
    claims: [...claims.values()]
      .sort((a, b) => byText(a.token, b.token))
      .map(({ token, worker }) => ({ token, worker, void: worker === null })),
    leases: [...leases.values()].flat().sort((a, b) => byText(a.token, b.token) || a.ttlMs - b.ttlMs),
    watch,
    checkpoints: [...checkpoints]
      .flatMap(([id, entries]) => [...entries].map(([key, value]) => ({ id, key, value })))
      .sort((a, b) => byText(a.id, b.id) || byText(a.key, b.key)),
    logs: [...logs.values()].sort((a, b) => byText(a.id, b.id)),
    named: [...named.values()].sort((a, b) => byText(a.key, b.key)),
    control,
    schedules: [...schedules.values()].sort((a, b) => byText(a.key, b.key)),
    timeline,
  }
}

/** Text by UTF-8 bytes, which is code point order. */
export function byText(a: string, b: string): number {
  if (a === b) return 0
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

export function copyOf(content: Content): Content {
  const copy = createContent()
  for (const [id, insertId] of content.insertIds) copy.insertIds.set(id, insertId)
  for (const [token, claim] of content.claims) copy.claims.set(token, claim)
  for (const [token, rows] of content.leases) copy.leases.set(token, rows)
  for (const job of content.jobs.values()) put(copy, job)
  for (const [id, entries] of content.checkpoints) copy.checkpoints.set(id, entries)
  for (const [id, log] of content.logs) copy.logs.set(id, log)
  for (const [key, lease] of content.named) copy.named.set(key, lease)
  for (const [key, schedule] of content.schedules) copy.schedules.set(key, schedule)
  copy.control = content.control
  copy.watch = content.watch
  copy.timeline = content.timeline
  copy.restoredBy = content.restoredBy
  copy.seq = content.seq
  return copy
}
