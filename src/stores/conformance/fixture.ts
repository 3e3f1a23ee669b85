import assert from 'node:assert/strict'
import type { JobRecord, JobSpec, Outcome } from '../../engine/jobs/record.ts'
import type {
  ClaimParams,
  ClaimedJob,
  InspectableStore,
  NewJob,
  Reclaimed,
  RecoverReply,
  Settlement,
  SettleReply,
  Store,
  WatchMoveReply,
} from '../../engine/ports/store.ts'
import type { OpenStore } from './case.ts'

export type JobOptions = Partial<JobSpec> & {
  readonly delayMs?: number
  readonly atMs?: number
  readonly undispatched?: boolean
}

interface Claimed {
  readonly token: string
  readonly jobs: readonly ClaimedJob[]
  readonly ids: readonly string[]
  readonly soloWaiting: boolean
}

/** A store in the hands of one case, with names that nobody else uses. */
export interface Fixture {
  readonly store: Store
  readonly queue: string
  readonly kind: string
  readonly worker: string
  /** A name of this case alone; every one is new. */
  readonly name: (what: string) => string
  readonly now: () => Promise<number>
  /** Moves the controlled clock. */
  readonly advance: (ms: number) => Promise<void>
  /** Lets `ms` pass, on whichever clock there is. */
  readonly pass: (ms: number) => Promise<void>
  readonly newJob: (options?: JobOptions) => NewJob
  /** Inserts new jobs and answers their ids. */
  readonly enqueue: (...jobs: JobOptions[]) => Promise<string[]>
  /** Inserts one new job. */
  readonly enqueueOne: (options?: JobOptions) => Promise<string>
  readonly claimParams: (options?: Partial<ClaimParams>) => ClaimParams
  /** Claims from this case's queue and kind, as an idle worker with room for all, unless told otherwise. */
  readonly claim: (options?: Partial<ClaimParams>) => Promise<Claimed>
  /** Inserts one job and claims it. */
  readonly start: (
    options?: JobOptions,
  ) => Promise<{ readonly id: string; readonly token: string; readonly epoch: number }>
  readonly get: (id: string) => Promise<JobRecord>
  readonly settle: (
    id: string,
    epoch: number,
    outcome: Outcome,
    repeated?: boolean,
  ) => Promise<SettleReply['results'][0]>
  readonly sweepMs: () => Promise<number>
  readonly move: () => Promise<WatchMoveReply>
  /** Lets `ms` pass while the outage watch sees the store all the time. */
  readonly seen: (ms: number) => Promise<void>
  /** Removes the lease rows of a claim behind the store's back. */
  readonly unlease: (token: string) => Promise<void>
  /** Reclaims until nothing is left; answers the jobs of this case. */
  readonly reclaim: (limit?: number) => Promise<Reclaimed[]>
  readonly inspectable: () => InspectableStore
  /** Runs `action` and expects that it changed nothing: neither these jobs nor, where it can be read, the rest. */
  readonly unchanged: <T>(ids: readonly string[], action: () => Promise<T>) => Promise<T>
}

/** A lease so short that real time can outlast it. */
export const shortMs = 20

export const cancelled: Outcome = { kind: 'cancelled' }
export const released: Outcome = { kind: 'released', delayMs: 0 }
export const succeeded: Outcome = { kind: 'succeeded', result: '{"ok":true}' }
export function failure(options: { delayMs?: number; permanent?: boolean } = {}): Outcome {
  const { delayMs = 0, permanent = false } = options
  return { kind: 'failed', error: { code: 'E_TEST', message: 'it broke' }, permanent, delayMs }
}

export async function createFixture({ store, time, unlease }: OpenStore, salt: string): Promise<Fixture> {
  const prefix = `${salt}@${(await store.now()).toString(36)}`
  let names = 0
  const name = (what: string): string => `${prefix}/${what}${++names}`
  const queue = name('queue')
  const kind = name('kind')
  const worker = name('worker')
  const own = ({ id }: { id: string }): boolean => id.startsWith(prefix)

  async function pass(ms: number): Promise<void> {
    if (time) return time.advance(ms)
    const until = (await store.now()) + ms
    while ((await store.now()) < until);
  }

  function newJob({ delayMs = 0, atMs, undispatched = false, ...spec }: JobOptions = {}): NewJob {
    const stock: JobSpec = {
      id: spec.id ?? name('job'),
      kind,
      queue,
      band: 2,
      input: '{}',
      inputVersion: 1,
      maxAttempts: 3,
      maxEvictions: 3,
      backoffMs: [0],
      jitter: false,
      leaseTtlMs: 30_000,
      timeoutMs: 600_000,
      tenant: null,
      keys: [],
      keepMs: 604_800_000,
      lineage: null,
      metadata: null,
      traceparent: null,
      enqueuedAtMs: 1_700_000_000_000,
    }
    const due = undispatched ? { undispatched } : atMs === undefined ? { delayMs } : { atMs }
    return { spec: { ...stock, ...spec }, due }
  }

  async function enqueue(...options: JobOptions[]): Promise<string[]> {
    const jobs = options.map(newJob)
    const ids = jobs.map(({ spec }) => spec.id)
    const reply = await store.jobs.insert({ insertId: name('insert'), jobs })
    assert.deepEqual(reply, { kind: 'inserted', jobs: ids.map((id) => ({ id, created: true })) })
    return ids
  }

  function claimParams(options: Partial<ClaimParams> = {}): ClaimParams {
    const queues = [{ queue, limit: 1_000 }]
    const stock = { worker, limit: 1_000, queues, kinds: [kind], solo: 'take' } as const
    return { token: options.token ?? name('token'), ...stock, ...options }
  }

  async function claim(options?: Partial<ClaimParams>): Promise<Claimed> {
    const params = claimParams(options)
    const reply = await store.claims.claim(params)
    if (reply.kind === 'void') assert.fail(`the claim under ${params.token} was void`)
    const { jobs, soloWaiting } = reply
    return { token: params.token, jobs, ids: jobs.map(({ spec }) => spec.id), soloWaiting }
  }

  async function sweepMs(): Promise<number> {
    return (await store.watch.declare({ sweepMs: 5_000 })).sweepMs
  }

  async function move(): Promise<WatchMoveReply> {
    return store.watch.move({ lastReplyMs: await store.now(), sinceReplyMs: 0, maxAgeMs: 600_000 })
  }

  const inspectable = (): InspectableStore => store as InspectableStore
  const contentOf = async (ids: readonly string[]): Promise<unknown> => ({
    jobs: await Promise.all(ids.map((id) => store.jobs.get({ id }))),
    checkpoints: await Promise.all(ids.map((id) => store.jobs.checkpoints({ id }))),
    logs: await Promise.all(ids.map((id) => store.logs.tail({ id, limit: 100 }))),
    dump: 'dump' in store ? await inspectable().dump() : null,
  })

  return {
    store,
    queue,
    kind,
    worker,
    name,
    now: () => store.now(),
    advance: async (ms) => {
      assert.ok(time, 'a case that moves the clock must say so')
      await time.advance(ms)
    },
    pass,
    newJob,
    enqueue,
    enqueueOne: async (options = {}) => (await enqueue(options))[0] as string,
    claimParams,
    claim,
    start: async (options = {}) => {
      const [id] = await enqueue(options)
      const { token, jobs } = await claim()
      const job = jobs.find(({ spec }) => spec.id === id)
      assert.ok(job, 'the job was not claimed')
      return { id: job.spec.id, token, epoch: job.epoch }
    },
    get: async (id) => {
      const job = await store.jobs.get({ id })
      assert.ok(job, `there is no job ${id}`)
      return job
    },
    settle: async (id, epoch, outcome, repeated = false) => {
      const settlement: Settlement = { id, epoch, outcome, repeated }
      const { results } = await store.jobs.settle({ worker, settlements: [settlement] })
      assert.equal(results.length, 1)
      return results[0] as SettleReply['results'][0]
    },
    sweepMs,
    move,
    seen: async (ms) => {
      const stepMs = await sweepMs()
      await move()
      for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
        await pass(Math.min(stepMs, leftMs))
        await move()
      }
    },
    unlease: async (token) => {
      assert.ok(unlease, 'a case that removes lease rows must say so')
      await unlease(token)
    },
    reclaim: async (limit = 100) => {
      const jobs: Reclaimed[] = []
      for (let full = true, calls = 0; full; calls++) {
        assertEnds(calls)
        const reply = await store.jobs.reclaim({ limit })
        jobs.push(...reply.jobs.filter(own))
        full = reply.full
      }
      return jobs
    },
    inspectable,
    unchanged: async (ids, action) => {
      const before = await contentOf(ids)
      const result = await action()
      assert.deepEqual(await contentOf(ids), before)
      return result
    },
  }
}

/** What a recovery answers of these jobs of a claim: all but how long they had been due. */
export function recoveryOf(jobs: readonly (ClaimedJob | undefined)[]): RecoverReply {
  const known = jobs.filter((job) => job !== undefined)
  return { kind: 'recovered', jobs: known.map((job) => ({ ...job, waitedMs: null })) }
}

/** What a job is that nobody holds, and that waits for nothing. */
export const unclaimed = { token: null, claimedAtMs: null, visibleAtMs: null } as const

/** Stops a loop that a broken store would keep going for ever. */
export function assertEnds(calls: number): void {
  assert.ok(calls < 10_000, 'the store says that there is more, and there never is an end')
}

/** The job after a change: as it was, but for `changes`. */
export function assertChanged(after: JobRecord, before: JobRecord, changes: Partial<JobRecord>): void {
  const { events } = after
  const deadAtMs = after.state === 'failed' ? after.finishedAtMs : null
  assert.deepEqual(after, { ...before, version: before.version + 1, deadAtMs, ...changes, events })
  // Which one is added, if any, is told in cases of its own.
  assert.deepEqual(events.slice(0, before.events.length), before.events)
  assert.ok(events.length <= before.events.length + 1, 'one change is one event')
}

/** An instant that the database gave between two readings of its clock. */
export function assertWithin(atMs: number | null, fromMs: number, toMs: number): asserts atMs is number {
  assert.ok(atMs !== null && fromMs <= atMs && atMs <= toMs, `${atMs} is not in [${fromMs}, ${toMs}]`)
}
