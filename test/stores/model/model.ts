// What a store should hold and answer, said as plainly as possible: arrays, loops and sorts, and no code of
// the engine. It knows one caller at a time; what races is the business of the conformance suite.
import type { ListParams, QueueCounts } from '../../../src/engine/ports/queries.ts'
import type { JobEvent, JobRecord, JobSpec, Progress } from '../../../src/engine/jobs/record.ts'
import type * as letters from '../../../src/engine/ports/dead-letters.ts'
import { type LogAppend, logLinesMax } from '../../../src/engine/ports/logs.ts'
import type { SweepParams, SweepReply } from '../../../src/engine/ports/retention.ts'
import type * as port from '../../../src/engine/ports/store.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }
export type ModelJob = Writable<JobRecord> & { insertId: string; claimOrder: number }
interface Header {
  readonly token: string
  readonly worker: string | null
  readonly madeAtMs: number
}

type Taken = 'queued' | 'failed' | 'cancelled'

const nothing = { jobs: [], heldBack: 0, full: false }

export class Model {
  nowMs: number
  jobs: ModelJob[] = []
  headers: Header[] = []
  leases: Writable<port.LeaseRow>[] = []
  watch: Writable<port.WatchState> | null = null
  checkpoints: { id: string; key: string; value: string }[] = []
  readonly logs = new Map<string, port.LogOfJob>()
  named: port.NamedLease[] = []
  hold = false
  paused: string[] = []
  #seq = 0
  #claimOrder = 0

  constructor(nowMs: number) {
    this.nowMs = nowMs
  }

  job(id: string): ModelJob | undefined {
    return this.jobs.find(({ spec }) => spec.id === id)
  }

  get({ id }: { readonly id: string }): JobRecord | null {
    const job = this.job(id)
    return job ? recordOf(job) : null
  }

  insert({ insertId, jobs }: port.InsertParams): port.InsertReply {
    const ids: string[] = []
    for (const { spec } of jobs) {
      const there = this.job(spec.id)
      if (there && (there.spec.kind !== spec.kind || there.spec.input !== spec.input)) ids.push(spec.id)
    }
    if (ids.length > 0) return { kind: 'conflict', ids }
    const answers = jobs.map(({ spec, due }) => {
      const there = this.job(spec.id)
      if (there) return { id: spec.id, created: there.insertId === insertId }
      this.#add(spec, visibleAt(due, this.nowMs), insertId)
      return { id: spec.id, created: true }
    })
    return { kind: 'inserted', jobs: answers }
  }

  claim({ token, worker, limit, queues, kinds, solo }: port.ClaimParams): port.ClaimReply {
    const room = new Map(queues.map((each) => [each.queue, each.limit]))
    const open = (queue: string): boolean => (room.get(queue) ?? 0) > 0
    if (limit <= 0 || kinds.length === 0 || ![...room.keys()].some(open)) {
      return { kind: 'claimed', jobs: [], soloWaiting: false }
    }
    if (this.headers.some((header) => header.token === token)) return { kind: 'void' }
    const due = this.jobs
      .filter(({ spec, state }) => state === 'queued' && open(spec.queue) && kinds.includes(spec.kind))
      .filter(({ visibleAtMs }) => visibleAtMs !== null && visibleAtMs <= this.nowMs)
      .filter(({ spec }) => !this.hold && !this.paused.includes(spec.queue))
      .sort(
        (a, b) => a.spec.band - b.spec.band || (a.visibleAtMs ?? 0) - (b.visibleAtMs ?? 0) || a.seq - b.seq,
      )
    const taken: ModelJob[] = []
    let soloWaiting = false
    for (const job of due) {
      if (taken.length === limit) break
      if (!open(job.spec.queue)) continue
      if (job.evictions > 0 && job.evictions + 1 >= job.spec.maxEvictions) {
        if (solo === 'pass') continue
        if (solo === 'take' && taken.length === 0) taken.push(job)
        else soloWaiting = true
        break
      }
      taken.push(job)
      room.set(job.spec.queue, (room.get(job.spec.queue) ?? 0) - 1)
    }
    if (taken.length > 0) this.headers.push({ token, worker, madeAtMs: this.nowMs })
    const waitedMs = taken.map(({ visibleAtMs }) => this.nowMs - (visibleAtMs ?? 0))
    for (const job of taken) {
      const start = { token, claimedAtMs: this.nowMs, visibleAtMs: null, progress: null }
      this.#write(job, { state: 'running', ...start })
      job.epoch += 1
      job.attempt += 1
      job.claimOrder = ++this.#claimOrder
      const ttlMs = job.spec.leaseTtlMs
      if (this.leases.some((lease) => lease.token === token && lease.ttlMs === ttlMs)) continue
      this.leases.push({ token, ttlMs, worker, expiresAtMs: this.nowMs + ttlMs })
    }
    return { kind: 'claimed', jobs: taken.map((job, k) => claimedOf(job, waitedMs[k] ?? 0)), soloWaiting }
  }

  recover({ token, worker }: { readonly token: string; readonly worker: string }): port.RecoverReply {
    const header = this.headers.find((each) => each.token === token)
    if (!header) this.headers.push({ token, worker: null, madeAtMs: this.nowMs })
    if (!header || header.worker === null) return { kind: 'voided' }
    this.renew({ worker, tokens: [token] })
    return { kind: 'recovered', jobs: this.#under(token).map((job) => claimedOf(job, null)) }
  }

  renew({ worker, tokens }: port.RenewParams): port.RenewReply {
    const held: Writable<port.RenewReply['held'][number]>[] = []
    for (const token of tokens) {
      for (const lease of this.leases) {
        if (lease.token === token && lease.worker === worker) lease.expiresAtMs = this.nowMs + lease.ttlMs
      }
      if (!this.headers.some((header) => header.token === token && header.worker === worker)) continue
      for (const { spec, epoch, cancelRequestedAtMs } of this.#under(token)) {
        held.push({ id: spec.id, epoch, cancel: cancelRequestedAtMs !== null })
      }
    }
    return { held }
  }

  settle({ settlements }: port.SettleParams): port.SettleReply {
    const results = settlements.map(({ id, epoch, outcome, repeated }) => {
      const job = this.job(id)
      if (!job) return { settled: 'lost' as const, state: null }
      if (job.state !== 'running' || job.epoch !== epoch) {
        const own = job.lastSettle?.epoch === epoch && job.lastSettle.kind === outcome.kind
        const settled = repeated ? (own ? ('applied' as const) : ('superseded' as const)) : ('lost' as const)
        return { settled, state: job.state }
      }
      job.lastSettle = { epoch, kind: outcome.kind }
      if (outcome.kind === 'succeeded') {
        this.#write(job, { result: outcome.result, error: null })
        this.#end(job, 'succeeded')
      } else if (outcome.kind === 'released') {
        this.#note(job, 'released')
        this.#write(job, {})
        this.#comeBack(job, outcome.delayMs)
      } else if (outcome.kind === 'cancelled') {
        this.#write(job, {})
        this.#end(job, 'cancelled')
      } else {
        this.#note(job, 'failed', outcome.error)
        this.#write(job, { failures: job.failures + 1, error: outcome.error })
        if (outcome.permanent || job.failures >= job.spec.maxAttempts) this.#end(job, 'failed')
        else this.#comeBack(job, outcome.delayMs)
      }
      return { settled: 'applied' as const, state: job.state }
    })
    return { results }
  }

  reclaim({ limit }: { readonly limit: number }): port.ReclaimReply {
    if (limit <= 0) return nothing
    const silent = this.#silent()
    const open = silent.filter(({ ttlMs }) => this.#watchedFor(ttlMs))
    open.sort((a, b) => a.expiresAtMs - b.expiresAtMs || byBytes(a.token, b.token) || a.ttlMs - b.ttlMs)
    const jobs: port.Reclaimed[] = []
    for (const lease of open.slice(0, limit)) {
      this.leases = this.leases.filter((other) => other !== lease)
      for (const job of this.#under(lease.token)) {
        if (job.spec.leaseTtlMs !== lease.ttlMs) continue
        jobs.push(this.#evict(job))
      }
    }
    return { jobs, heldBack: silent.length - open.length, full: open.length > limit }
  }

  adopt({ limit, silentMs }: { readonly limit: number; readonly silentMs: number }): port.AdoptReply {
    const lost = this.jobs
      .filter(({ state, claimedAtMs }) => state === 'running' && this.nowMs - (claimedAtMs ?? 0) >= silentMs)
      .filter(({ token, spec }) => {
        return !this.leases.some((lease) => lease.token === token && lease.ttlMs === spec.leaseTtlMs)
      })
      .sort((a, b) => (a.claimedAtMs ?? 0) - (b.claimedAtMs ?? 0) || a.seq - b.seq)
      .slice(0, Math.max(0, limit))
    if (!this.#watchedFor(silentMs)) return { jobs: [] }
    return { jobs: lost.map((job) => this.#evict(job)) }
  }

  /** All pages, as many jobs each as `limit` says. */
  list({ limit, ...by }: Omit<ListParams, 'cursor'>): JobRecord[][] {
    const lets = ({ spec, state, createdAtMs, deadAtMs }: ModelJob): boolean => {
      if (by.states && !by.states.includes(state)) return false
      if (by.kinds && !by.kinds.includes(spec.kind)) return false
      if (by.queues && !by.queues.includes(spec.queue)) return false
      if (by.tenant === null && spec.tenant !== null) return false
      if (typeof by.tenant === 'string' && !spec.keys.includes(`tenant=${by.tenant}`)) return false
      if (by.keys && !by.keys.every((key) => spec.keys.includes(key))) return false
      if (by.createdFromMs !== undefined && createdAtMs < by.createdFromMs) return false
      if (by.createdToMs !== undefined && createdAtMs >= by.createdToMs) return false
      return by.dead === undefined || by.dead === (deadAtMs !== null)
    }
    const found = this.jobs.filter(lets).reverse().map(recordOf)
    const bare = found.map((job) => ({ ...job, spec: { ...job.spec, input: '' }, result: null }))
    const jobs = by.payloads ? found : bare
    const pages = [jobs.slice(0, limit)]
    for (let from = limit; from < jobs.length; from += limit) pages.push(jobs.slice(from, from + limit))
    return pages
  }

  counts(): QueueCounts[] {
    const all = ['q1', 'q2'].map((queue) => {
      const count = (what: (job: ModelJob) => boolean): number =>
        this.jobs.filter((job) => job.spec.queue === queue && what(job)).length
      const waits = (job: ModelJob): boolean => job.state === 'queued' && job.visibleAtMs !== null
      return {
        queue,
        due: count((job) => waits(job) && (job.visibleAtMs ?? 0) <= this.nowMs),
        delayed: count((job) => waits(job) && (job.visibleAtMs ?? 0) > this.nowMs),
        undispatched: count((job) => job.state === 'queued' && job.visibleAtMs === null),
        running: count(({ state }) => state === 'running'),
        dead: count(({ deadAtMs }) => deadAtMs !== null),
      }
    })
    return all.filter(
      ({ due, delayed, undispatched, running, dead }) => due + delayed + undispatched + running + dead > 0,
    )
  }

  queueAges({ queues }: { readonly queues: readonly string[] }): port.QueueAge[] {
    return queues.map((queue) => {
      const waits = this.jobs
        .filter(({ state, spec, visibleAtMs }) => {
          return (
            state === 'queued' && spec.queue === queue && visibleAtMs !== null && visibleAtMs <= this.nowMs
          )
        })
        .map(({ visibleAtMs }) => this.nowMs - (visibleAtMs ?? 0))
      return { queue, oldestDueMs: waits.length > 0 ? Math.max(...waits) : null }
    })
  }

  /** A stray delete: the lease rows of a claim are gone. */
  unlease(token: string): void {
    this.leases = this.leases.filter((lease) => lease.token !== token)
  }

  expireTimeouts({ limit }: { readonly limit: number }): port.TimeoutReply {
    const late = this.jobs
      .filter(({ state, spec, claimedAtMs }) => {
        const boundMs = spec.timeoutMs + spec.leaseTtlMs
        return state === 'running' && this.nowMs >= (claimedAtMs ?? 0) + boundMs && this.#watchedFor(boundMs)
      })
      .sort((a, b) => (a.claimedAtMs ?? 0) - (b.claimedAtMs ?? 0) || a.seq - b.seq)
      .slice(0, Math.max(0, limit))
    for (const job of late) {
      const failures = job.failures + 1
      const error = { code: 'TIMEOUT', message: `attempt exceeded ${job.spec.timeoutMs} ms` }
      this.#note(job, 'timed-out', error)
      this.#write(job, { failures, error, epoch: job.epoch + 1 })
      if (failures >= job.spec.maxAttempts) this.#end(job, 'failed')
      else this.#comeBack(job, waitOf(job, failures))
    }
    return {
      jobs: late.map(({ spec, epoch, failures, state }) => {
        return { id: spec.id, epoch, failures, state: state as Taken }
      }),
    }
  }

  collect({ limit, voidMs }: { readonly limit: number; readonly voidMs: number }): { removed: number } {
    const spent = this.headers
      .filter(({ token, worker, madeAtMs }) =>
        worker === null ? this.nowMs >= madeAtMs + voidMs : this.#under(token).length === 0,
      )
      .slice(0, Math.max(0, limit))
    this.headers = this.headers.filter((header) => !spent.includes(header))
    this.leases = this.leases.filter(({ token }) => !spent.some((header) => header.token === token))
    return { removed: spent.length }
  }

  requestCancel({ id }: { readonly id: string }): port.CancelReply {
    const job = this.job(id)
    if (!job) return { kind: 'missing' }
    const { state } = job
    if (state === 'succeeded' || state === 'failed') return { kind: 'ended', state }
    if (state === 'cancelled') return { kind: 'cancelled' }
    if (job.cancelRequestedAtMs === null) {
      this.#note(job, 'cancel-requested')
      this.#write(job, { cancelRequestedAtMs: this.nowMs })
    }
    if (state === 'running') return { kind: 'requested' }
    this.#end(job, 'cancelled')
    return { kind: 'cancelled' }
  }

  retry(params: port.CommandParams): port.CommandReply {
    return this.#command(params, ['failed', 'cancelled'], (job) => {
      const reset = { failures: 0, evictions: 0, error: null, finishedAtMs: null, progress: null }
      this.#note(job, 'retried')
      Object.assign(job, reset, { cancelRequestedAtMs: null, deadAtMs: null })
      this.#comeBack(job, 0)
    })
  }

  reschedule({ delayMs, ...params }: port.CommandParams & { readonly delayMs: number }): port.CommandReply {
    return this.#command(params, ['queued'], (job) => {
      this.#note(job, 'rescheduled')
      job.visibleAtMs = this.nowMs + delayMs
    })
  }

  /** Those that died first first. The number of those before stands for the cursor of a store. */
  deadLetters({ limit, kinds, queues, beforeMs }: Omit<letters.DeadLetterQuery, 'cursor'>): JobRecord[] {
    return this.jobs
      .filter(({ deadAtMs }) => deadAtMs !== null && (beforeMs === undefined || deadAtMs < beforeMs))
      .filter(({ spec }) => kinds === undefined || kinds.includes(spec.kind))
      .filter(({ spec }) => queues === undefined || queues.includes(spec.queue))
      .sort((a, b) => (a.deadAtMs ?? 0) - (b.deadAtMs ?? 0) || a.seq - b.seq)
      .slice(0, Math.max(0, limit))
      .map(recordOf)
  }

  replay({ command, replays }: letters.ReplayParams): letters.ReplayReply {
    const results = replays.map(({ id, as }): letters.Replayed => {
      const job = this.job(id)
      if (!job) return { kind: 'missing' }
      if (job.replayedAs !== null) {
        return { kind: job.lastCommand === command ? 'replayed' : 'already', as: job.replayedAs }
      }
      if (job.deadAtMs === null) return { kind: 'refused', state: job.state }
      if (this.job(as)) return { kind: 'taken' }
      const { lineage } = job.spec
      const from = {
        root: lineage ? lineage.root : id,
        parent: id,
        replays: (lineage ? lineage.replays : 0) + 1,
      }
      this.#add({ ...job.spec, id: as, lineage: from }, this.nowMs, command)
      this.#note(job, 'replayed')
      this.#write(job, { deadAtMs: null, replayedAs: as, lastCommand: command })
      return { kind: 'replayed', as }
    })
    return { results }
  }

  discard({ ids }: { readonly ids: readonly string[] }): letters.DiscardReply {
    const results = ids.map((id): letters.Discarded => {
      const job = this.job(id)
      if (!job) return { kind: 'missing' }
      if (job.deadAtMs !== null) {
        this.#note(job, 'discarded')
        this.#write(job, { deadAtMs: null })
      }
      const { state, replayedAs } = job
      if (state === 'failed' && replayedAs === null) return { kind: 'discarded' }
      return { kind: 'refused', state, replayedAs }
    })
    return { results }
  }

  progress({ id, epoch, percent, phase }: port.JobEpoch & Progress): port.Fenced {
    const job = this.#running(id, epoch)
    if (job) this.#write(job, { progress: { percent, phase } })
    return { applied: job !== undefined }
  }

  checkpoint({ id, epoch, key, value }: port.JobEpoch & { key: string; value: string }): port.Fenced {
    if (!this.#running(id, epoch)) return { applied: false }
    this.checkpoints = this.checkpoints.filter((kept) => kept.id !== id || kept.key !== key)
    this.checkpoints.push({ id, key, value })
    return { applied: true }
  }

  append({ id, epoch, lines }: LogAppend): port.Fenced {
    if (!this.#running(id, epoch)) return { applied: false }
    const log = this.logs.get(id) ?? { id, next: 0, epoch, line: -1, lines: [] }
    const kept = [...log.lines]
    let line = log.epoch === epoch ? log.line : -1
    let next = log.next
    for (const entry of lines) {
      if (entry.line <= line) continue
      line = entry.line
      kept.push({ n: next++, atMs: this.nowMs, epoch, level: entry.level, text: entry.text })
    }
    while (kept.length > logLinesMax) kept.shift()
    this.logs.set(id, { id, next, epoch, line, lines: kept })
    return { applied: true }
  }

  checkpointsOf({ id }: { readonly id: string }): { key: string; value: string }[] {
    return this.checkpoints
      .filter((kept) => kept.id === id)
      .sort((a, b) => byBytes(a.key, b.key))
      .map(({ key, value }) => ({ key, value }))
  }

  repairDispatch({ limit, olderMs }: { limit: number; olderMs: number }): { ids: string[] } {
    const jobs = this.jobs
      .filter(({ state, visibleAtMs }) => state === 'queued' && visibleAtMs === null)
      .filter(({ createdAtMs }) => createdAtMs + olderMs <= this.nowMs)
      .slice(0, Math.max(0, limit))
    for (const job of jobs) this.#write(job, { visibleAtMs: this.nowMs })
    return { ids: jobs.map(({ spec }) => spec.id) }
  }

  acquire({ key, owner, ttlMs }: port.NamedLeaseParams): { acquired: boolean } {
    if (this.named.some((lease) => lease.key === key && lease.expiresAtMs > this.nowMs)) {
      return { acquired: false }
    }
    this.#lend(key, owner, ttlMs)
    return { acquired: true }
  }

  renewNamed({ key, owner, ttlMs }: port.NamedLeaseParams): { held: boolean } {
    const held = this.named.some((lease) => {
      return lease.key === key && lease.owner === owner && lease.expiresAtMs > this.nowMs
    })
    if (held) this.#lend(key, owner, ttlMs)
    return { held }
  }

  release({ key, owner }: { readonly key: string; readonly owner: string }): { released: boolean } {
    const left = this.named.filter((lease) => lease.key !== key || lease.owner !== owner)
    const released = left.length < this.named.length
    this.named = left
    return { released }
  }

  /** The cursor is the sequence that was looked at last. */
  sweep({ after, limit, deadLetterMs, olderMs }: SweepParams): SweepReply {
    const next = this.jobs.filter(({ seq }) => seq > Number(after ?? 0)).slice(0, Math.max(0, limit))
    const young = next.findIndex(
      ({ createdAtMs }) => createdAtMs <= this.nowMs && createdAtMs + olderMs > this.nowMs,
    )
    const looked = young === -1 ? next : next.slice(0, young)
    const spent = looked.filter(({ state, finishedAtMs, deadAtMs, spec }) => {
      if (state === 'queued' || state === 'running') return false
      const overMs = this.nowMs - (finishedAtMs ?? Infinity)
      return overMs >= spec.keepMs && (deadAtMs === null || this.nowMs - deadAtMs >= deadLetterMs)
    })
    const removed = spent.map(({ spec }) => spec.id)
    this.jobs = this.jobs.filter((job) => !spent.includes(job))
    this.checkpoints = this.checkpoints.filter(({ id }) => !removed.includes(id))
    for (const id of removed) this.logs.delete(id)
    const more = looked.length > 0 && looked.length === limit
    return { removed, looked: looked.length, after: more ? String(looked.at(-1)?.seq) : null }
  }

  sweepLeases({ limit, lapsedMs }: { limit: number; lapsedMs: number }): { removed: number } {
    // In the order in which they lapsed, then by key.
    const lapsed = this.named
      .filter(({ expiresAtMs }) => expiresAtMs + lapsedMs <= this.nowMs)
      .sort((a, b) => a.expiresAtMs - b.expiresAtMs || byBytes(a.key, b.key))
      .slice(0, Math.max(0, limit))
    this.named = this.named.filter((lease) => !lapsed.includes(lease))
    return { removed: lapsed.length }
  }

  setControl(change: port.ControlChange): port.Control {
    if ('hold' in change) {
      this.hold = change.hold
    } else {
      this.paused = this.paused.filter((queue) => queue !== change.queue)
      if (change.paused) this.paused.push(change.queue)
    }
    return this.control()
  }

  control(): port.Control {
    return { hold: this.hold, paused: [...this.paused].sort(byBytes) }
  }

  declare({ sweepMs }: { readonly sweepMs: number }): { sweepMs: number; nowMs: number } {
    this.watch ??= { sweepMs, seenSinceMs: null, seenAtMs: null }
    return { sweepMs: this.watch.sweepMs, nowMs: this.nowMs }
  }

  move({ lastReplyMs, sinceReplyMs, maxAgeMs }: port.WatchMoveParams): port.WatchMoveReply {
    const { watch, nowMs } = this
    const silent = this.#silent().length > 0
    if (!watch) return { kind: 'refused', nowMs, seenSinceMs: nowMs, silent }
    let kind: port.WatchMoveReply['kind'] = 'moved'
    if (lastReplyMs + sinceReplyMs + maxAgeMs < nowMs) kind = 'refused'
    else if (lastReplyMs + sinceReplyMs > nowMs + 1_000 || !this.#fresh()) {
      kind = 'restarted'
      watch.seenSinceMs = watch.seenAtMs = nowMs
    } else if (lastReplyMs < (watch.seenSinceMs ?? 0)) kind = 'refused'
    else if ((watch.seenAtMs ?? 0) < nowMs) watch.seenAtMs = nowMs
    return { kind, nowMs, seenSinceMs: watch.seenSinceMs ?? nowMs, silent }
  }

  dump(): port.StoreDump {
    return {
      jobs: [...this.jobs].sort((a, b) => byBytes(a.spec.id, b.spec.id)).map(recordOf),
      claims: [...this.headers]
        .sort((a, b) => byBytes(a.token, b.token))
        .map(({ token, worker }) => ({ token, worker, void: worker === null })),
      leases: this.leases
        .map((lease) => ({ ...lease }))
        .sort((a, b) => byBytes(a.token, b.token) || a.ttlMs - b.ttlMs),
      watch: this.watch && { ...this.watch },
      checkpoints: [...this.checkpoints].sort((a, b) => byBytes(a.id, b.id) || byBytes(a.key, b.key)),
      logs: [...this.logs.values()].sort((a, b) => byBytes(a.id, b.id)),
      named: [...this.named].sort((a, b) => byBytes(a.key, b.key)),
      control: this.control(),
      schedules: [],
      timeline: 0,
    }
  }

  #fresh(): boolean {
    const { seenAtMs, sweepMs } = this.watch ?? { seenAtMs: null, sweepMs: 0 }
    if (seenAtMs === null) return false
    const ageMs = this.nowMs - seenAtMs
    return ageMs >= -1_000 && ageMs <= 2 * sweepMs
  }

  #silent(): Writable<port.LeaseRow>[] {
    const mostMs = 1_000 + 2 * (this.watch?.sweepMs ?? 0)
    return this.leases.filter(
      ({ expiresAtMs, ttlMs }) => expiresAtMs <= this.nowMs || expiresAtMs - this.nowMs - ttlMs > mostMs,
    )
  }

  #watchedFor(ms: number): boolean {
    return this.#fresh() && this.nowMs - (this.watch?.seenSinceMs ?? this.nowMs) >= ms
  }

  #under(token: string): ModelJob[] {
    return this.jobs
      .filter((job) => job.state === 'running' && job.token === token)
      .sort((a, b) => a.claimOrder - b.claimOrder)
  }

  #add(spec: JobSpec, visibleAtMs: number | null, insertId: string): void {
    const ends = { finishedAtMs: null, cancelRequestedAtMs: null, result: null, error: null }
    const record = { deadAtMs: null, replayedAs: null, events: [] }
    const blank = { ...record, token: null, claimedAtMs: null, progress: null, lastCommand: null, ...ends }
    const counts = { epoch: 0, attempt: 0, failures: 0, evictions: 0, version: 1 }
    const at = { visibleAtMs, createdAtMs: this.nowMs, updatedAtMs: this.nowMs }
    const job = { spec, state: 'queued', ...counts, ...blank, ...at, lastSettle: null } as const
    this.jobs.push({ ...job, seq: ++this.#seq, insertId, claimOrder: 0 })
  }

  #write(job: ModelJob, changes: Partial<ModelJob>): void {
    Object.assign(job, changes, { version: job.version + 1, updatedAtMs: this.nowMs })
  }

  #running(id: string, epoch: number): ModelJob | undefined {
    return this.jobs.find((job) => job.spec.id === id && job.state === 'running' && job.epoch === epoch)
  }

  #command(
    { id, version, command }: port.CommandParams,
    states: readonly JobRecord['state'][],
    change: (job: ModelJob) => void,
  ): port.CommandReply {
    const job = this.job(id)
    if (!job) return { kind: 'refused', version: null, state: null }
    if (job.lastCommand === command) return { kind: 'applied', version: job.version }
    if (job.version !== version || !states.includes(job.state) || job.replayedAs !== null) {
      return { kind: 'refused', version: job.version, state: job.state }
    }
    this.#write(job, { lastCommand: command })
    change(job)
    return { kind: 'applied', version: job.version }
  }

  #evict(job: ModelJob): port.Reclaimed {
    const evictions = job.evictions + 1
    const error = { code: 'LEASE_LOST', message: `lease lost x${evictions}` }
    this.#note(job, 'evicted', error)
    this.#write(job, { evictions, error, epoch: job.epoch + 1 })
    if (evictions >= job.spec.maxEvictions) this.#end(job, 'failed')
    else this.#comeBack(job, waitOf(job, evictions))
    return { id: job.spec.id, epoch: job.epoch, evictions, state: job.state as Taken }
  }

  #lend(key: string, owner: string, ttlMs: number): void {
    this.named = this.named.filter((lease) => lease.key !== key)
    this.named.push({ key, owner, expiresAtMs: this.nowMs + ttlMs })
  }

  #comeBack(job: ModelJob, delayMs: number): void {
    if (job.cancelRequestedAtMs !== null) return this.#end(job, 'cancelled')
    Object.assign(job, { state: 'queued', token: null, claimedAtMs: null, visibleAtMs: this.nowMs + delayMs })
  }

  #end(job: ModelJob, state: 'succeeded' | 'failed' | 'cancelled'): void {
    const finishedAtMs = this.nowMs
    const deadAtMs = state === 'failed' ? finishedAtMs : null
    const ends = { token: null, claimedAtMs: null, visibleAtMs: null, finishedAtMs, deadAtMs }
    Object.assign(job, { state, ...ends })
  }

  #note(job: ModelJob, kind: JobEvent['kind'], error: JobEvent['error'] = null): void {
    const { attempt, epoch } = job
    job.events = [...job.events, { kind, atMs: this.nowMs, attempt, epoch, error }].slice(-20)
  }
}

function visibleAt(due: port.NewJob['due'], nowMs: number): number | null {
  if ('undispatched' in due) return null
  return 'atMs' in due ? due.atMs : nowMs + due.delayMs
}

function waitOf({ spec: { backoffMs } }: ModelJob, nth: number): number {
  return (nth <= backoffMs.length ? backoffMs[nth - 1] : backoffMs.at(-1)) ?? 0
}

function claimedOf(
  { spec, epoch, attempt, failures, evictions, seq }: ModelJob,
  waitedMs: number | null,
): port.ClaimedJob {
  return { spec, epoch, attempt, failures, evictions, waitedMs, seq }
}

function recordOf(job: ModelJob): JobRecord {
  const { insertId: _insertId, claimOrder: _claimOrder, ...record } = job
  return record
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
