// For every store call: what stands before it, how it is sent, and what its caller does when nobody knows whether it
// took effect.
import type { JobSpec } from '../../../src/engine/jobs/record.ts'
import type { InspectableStore, Store } from '../../../src/engine/ports/store.ts'
import type { StoreCall } from '../../../src/stores/policy.ts'

/** The database under test, which time passes for when it is told to. */
export interface Subject {
  readonly nowMs: () => number
  readonly advance: (ms: number) => Promise<void>
  /** Removes the lease rows of a claim behind the store's back. */
  readonly unlease: (token: string) => Promise<void>
}

/** `anew`: what was lost is done anew in another attempt, so that only what becomes of the job is the same. */
type Rewrites = boolean | 'anew'

export interface Row {
  /** What stands before the call. */
  readonly before: (store: Store) => Promise<unknown>
  readonly call: (store: Store) => Promise<unknown>
  /** What the engine does when the call fails with an unknown outcome; only for those never repeated. */
  readonly remedy?: (store: Store) => Promise<unknown>
  /** A repeat of it is one more write of the job, which its version counts. */
  readonly rewrites?: Rewrites
  /** What a repeat answers after a lost reply, where that is not the same. */
  readonly repeatAnswers?: unknown
}

const ttlMs = 30_000
const timeoutMs = 60_000

const spec: JobSpec = {
  id: 'job',
  kind: 'kind',
  queue: 'queue',
  band: 2,
  input: '{}',
  inputVersion: 1,
  maxAttempts: 3,
  maxEvictions: 3,
  backoffMs: [1_000],
  jitter: false,
  leaseTtlMs: ttlMs,
  timeoutMs,
  tenant: null,
  keys: [],
  keepMs: 604_800_000,
  lineage: null,
  metadata: { tenant: 'a' },
  traceparent: null,
  enqueuedAtMs: 0,
}
const insert = { insertId: 'insert', jobs: [{ spec, due: { delayMs: 0 } }] }
const claim = (token: string) => ({
  token,
  worker: 'worker',
  limit: 1,
  queues: [{ queue: 'queue', limit: 1 }],
  kinds: ['kind'],
  solo: 'take' as const,
})
const settle = {
  worker: 'worker',
  settlements: [
    { id: 'job', epoch: 1, outcome: { kind: 'succeeded', result: null }, repeated: false },
  ] as const,
}

const own = { id: 'job', epoch: 1 }
function noCommits(): never {
  throw new Error('this store has no commits')
}

export function rowsOf(subject: Subject): Readonly<Record<StoreCall, Row>> {
  /** Moves the watch every 5 s for so long. */
  async function watchFor(store: Store, ms: number): Promise<void> {
    await store.watch.move({ lastReplyMs: subject.nowMs(), sinceReplyMs: 0, maxAgeMs: 5_000 })
    for (let passedMs = 0; passedMs < ms; passedMs += 5_000) {
      await subject.advance(5_000)
      await store.watch.move({ lastReplyMs: subject.nowMs(), sinceReplyMs: 0, maxAgeMs: 5_000 })
    }
  }

  async function inserted(store: Store): Promise<void> {
    await store.watch.declare({ sweepMs: 5_000 })
    await store.jobs.insert(insert)
  }

  async function claimed(store: Store): Promise<void> {
    await inserted(store)
    await store.claims.claim(claim('token'))
  }

  async function died(store: Store): Promise<void> {
    await claimed(store)
    const outcome = {
      kind: 'failed',
      error: { code: 'E', message: 'm' },
      permanent: true,
      delayMs: 0,
    } as const
    const settlements = [{ id: 'job', epoch: 1, outcome, repeated: false }]
    await store.jobs.settle({ worker: 'worker', settlements })
  }

  async function claimedAWhileAgo(store: Store): Promise<void> {
    await claimed(store)
    await subject.advance(1_000)
  }

  const lease = { key: 'key', owner: 'owner', ttlMs }
  async function leasedAWhileAgo(store: Store): Promise<void> {
    await store.leases.acquire(lease)
    await subject.advance(1_000)
  }

  const scheduled = (store: Store): Promise<unknown> => {
    const nextAtMs = subject.nowMs()
    return store.schedules.put({ key: 'nightly', version: null, command: 'v1', spec: '{}', nextAtMs })
  }

  const declared = (store: Store): Promise<unknown> => store.watch.declare({ sweepMs: 5_000 })
  const move = (store: Store): Promise<unknown> =>
    store.watch.move({ lastReplyMs: subject.nowMs(), sinceReplyMs: 0, maxAgeMs: 5_000 })

  const sweep = (store: Store): Promise<unknown> =>
    store.retention.sweep({ after: null, limit: 10, deadLetterMs: 0, olderMs: 0 })
  const sweepLeases = (store: Store): Promise<unknown> =>
    store.retention.sweepLeases({ limit: 10, lapsedMs: ttlMs })
  const repair = (store: Store): Promise<unknown> => store.jobs.repairDispatch({ limit: 10, olderMs: 60_000 })

  return {
    'jobs.insert': { before: declared, call: (store) => store.jobs.insert(insert) },
    'jobs.settle': { before: claimed, call: (store) => store.jobs.settle(settle) },
    'jobs.get': { before: claimed, call: (store) => store.jobs.get({ id: 'job' }) },
    'jobs.outcomes': { before: claimed, call: (store) => store.jobs.outcomes({ ids: ['job', 'none'] }) },
    'jobs.reclaim': {
      before: async (store) => {
        await claimed(store)
        await watchFor(store, ttlMs)
      },
      call: (store) => store.jobs.reclaim({ limit: 10 }),
      remedy: (store) => store.jobs.reclaim({ limit: 10 }),
    },
    'jobs.expireTimeouts': {
      before: async (store) => {
        await claimed(store)
        await watchFor(store, ttlMs + timeoutMs)
      },
      call: (store) => store.jobs.expireTimeouts({ limit: 10 }),
      remedy: (store) => store.jobs.expireTimeouts({ limit: 10 }),
    },
    'jobs.adopt': {
      before: async (store) => {
        await claimed(store)
        await subject.unlease('token')
        await watchFor(store, ttlMs)
      },
      call: (store) => store.jobs.adopt({ limit: 10, silentMs: ttlMs }),
      remedy: (store) => store.jobs.adopt({ limit: 10, silentMs: ttlMs }),
    },
    'jobs.queueAges': {
      before: async (store) => {
        await inserted(store)
        await subject.advance(1_000)
      },
      call: (store) => store.jobs.queueAges({ queues: ['queue'] }),
    },
    'jobs.requestCancel': { before: inserted, call: (store) => store.jobs.requestCancel({ id: 'job' }) },
    'jobs.retry': {
      before: async (store) => {
        await inserted(store)
        await store.jobs.requestCancel({ id: 'job' })
      },
      call: (store) => store.jobs.retry({ id: 'job', version: 2, command: 'command' }),
    },
    'jobs.reschedule': {
      before: inserted,
      call: (store) => store.jobs.reschedule({ id: 'job', version: 1, command: 'command', delayMs: 9_000 }),
    },
    'jobs.progress': {
      before: claimed,
      call: (store) => store.jobs.progress({ id: 'job', epoch: 1, percent: 40, phase: 'reading' }),
      rewrites: true,
    },
    'jobs.checkpoint': {
      before: claimed,
      call: (store) => store.jobs.checkpoint({ id: 'job', epoch: 1, key: 'key', value: '"value"' }),
    },
    'jobs.checkpoints': {
      before: async (store) => {
        await claimed(store)
        await store.jobs.checkpoint({ id: 'job', epoch: 1, key: 'key', value: '"value"' })
      },
      call: (store) => store.jobs.checkpoints({ id: 'job' }),
    },
    'jobs.repairDispatch': {
      before: async (store) => {
        await store.jobs.insert({ insertId: 'insert', jobs: [{ spec, due: { undispatched: true } }] })
        await subject.advance(60_000)
      },
      call: repair,
      remedy: repair,
    },
    'claims.claim': {
      before: inserted,
      call: (store) => store.claims.claim(claim('token')),
      remedy: async (store) => {
        const { kind } = await store.claims.recover({ token: 'token', worker: 'worker' })
        if (kind === 'voided') await store.claims.claim(claim('token 2'))
      },
    },
    'claims.recover': {
      before: claimedAWhileAgo,
      call: (store) => store.claims.recover({ token: 'token', worker: 'worker' }),
    },
    'claims.renew': {
      before: claimedAWhileAgo,
      call: (store) => store.claims.renew({ worker: 'worker', tokens: ['token'] }),
    },
    'claims.collect': {
      before: async (store) => {
        await claimed(store)
        await store.jobs.settle(settle)
      },
      call: (store) => store.claims.collect({ limit: 10, voidMs: 1 }),
      remedy: (store) => store.claims.collect({ limit: 10, voidMs: 1 }),
    },
    'watch.declare': { before: async () => {}, call: (store) => store.watch.declare({ sweepMs: 7_000 }) },
    'watch.move': { before: declared, call: move, remedy: move },
    'leases.acquire': {
      before: async () => {},
      call: (store) => store.leases.acquire(lease),
      // Who was not told that he holds it never starts the work; the lease lapses, and goes to whoever asks then.
      remedy: async (store) => {
        await subject.advance(ttlMs)
        await store.leases.acquire({ ...lease, owner: 'other' })
      },
    },
    'leases.renew': { before: leasedAWhileAgo, call: (store) => store.leases.renew(lease) },
    'leases.release': {
      before: leasedAWhileAgo,
      call: (store) => store.leases.release(lease),
      // The first try did it; nobody asks which.
      repeatAnswers: { released: false },
    },
    'control.set': { before: async () => {}, call: (store) => store.control.set({ hold: true }) },
    'control.get': {
      before: (store) => store.control.set({ queue: 'queue', paused: true }),
      call: (store) => store.control.get(),
    },
    'queries.list': {
      before: claimed,
      call: (store) => store.queries.list({ limit: 10, cursor: null, payloads: true }),
    },
    'queries.counts': { before: claimed, call: (store) => store.queries.counts() },
    'schedules.put': { before: async () => {}, call: scheduled },
    'schedules.remove': {
      before: scheduled,
      call: (store) => store.schedules.remove({ key: 'nightly' }),
      // The first try did it; nobody asks which.
      repeatAnswers: { removed: false },
    },
    'schedules.get': { before: scheduled, call: (store) => store.schedules.get({ key: 'nightly' }) },
    'schedules.list': {
      before: scheduled,
      call: (store) => store.schedules.list({ limit: 9, after: null }),
    },
    'schedules.pause': {
      before: scheduled,
      call: (store) => store.schedules.pause({ key: 'nightly', version: 'v1', command: 'v2', paused: true }),
    },
    'schedules.due': { before: scheduled, call: (store) => store.schedules.due({ limit: 9 }) },
    'schedules.fire': {
      before: scheduled,
      call: (store) =>
        store.schedules.fire({
          key: 'nightly',
          version: 'v1',
          command: 'v2',
          slots: [{ atMs: subject.nowMs(), job: { spec, due: { delayMs: 0 } } }],
          nextAtMs: subject.nowMs() + 60_000,
        }),
      repeatAnswers: { kind: 'stands' },
    },
    'deadLetters.list': {
      before: died,
      call: (store) => store.deadLetters.list({ limit: 10, cursor: null }),
    },
    'deadLetters.replay': {
      before: died,
      call: (store) =>
        store.deadLetters.replay({ command: 'command', replays: [{ id: 'job', as: 'job~r1' }] }),
    },
    'deadLetters.discard': { before: died, call: (store) => store.deadLetters.discard({ ids: ['job'] }) },
    'logs.append': {
      before: async (store) => {
        await claimed(store)
        await store.logs.append({ ...own, lines: [{ line: 0, level: 'info', text: 'before' }] })
      },
      call: (store) => store.logs.append({ ...own, lines: [{ line: 1, level: 'info', text: 'this' }] }),
    },
    'logs.page': { before: claimed, call: (store) => store.logs.page({ id: 'job', from: 0, limit: 9 }) },
    'logs.tail': { before: claimed, call: (store) => store.logs.tail({ id: 'job', limit: 9 }) },
    'control.restored': {
      before: claimed,
      call: (store) => store.control.restored({ command: 'command', timelineMin: 0 }),
      // It took nothing more.
      repeatAnswers: { control: { hold: false, paused: [] }, timeline: 1, taken: [] },
    },
    'retention.sweep': {
      before: async (store) => {
        await claimed(store)
        await store.jobs.settle(settle)
        await subject.advance(spec.keepMs)
      },
      call: sweep,
      remedy: sweep,
    },
    'retention.sweepLeases': {
      before: async (store) => {
        await store.leases.acquire(lease)
        await subject.advance(2 * ttlMs)
      },
      call: sweepLeases,
      remedy: sweepLeases,
    },
    'commits.transact': {
      before: claimed,
      call: (store) => store.commits?.transact({ ...own, work: () => ({ result: '1' }) }) ?? noCommits(),
      remedy: async (store) => {
        // What was not committed was given back, and is done anew.
        const { kind } = (await store.commits?.confirm(own)) ?? noCommits()
        if (kind === 'committed') return
        await store.claims.claim(claim('token 2'))
        await store.commits?.transact({ ...own, epoch: 2, work: () => ({ result: '1' }) })
      },
      rewrites: 'anew',
    },
    'commits.confirm': {
      before: claimed,
      call: (store) => store.commits?.confirm(own) ?? noCommits(),
    },
    now: { before: declared, call: (store) => store.now() },
  }
}

/** What jobs and leases amount to, whatever token, owner and sequence they bear: a try that was undone leaves a gap. */
export async function stateOf(raw: InspectableStore, rewrites: Rewrites, nowMs: number): Promise<unknown> {
  const { jobs, leases, claims, named, ...rest } = await raw.dump()
  if (rewrites === 'anew') {
    return jobs.map(({ spec: { id }, state, result, failures, evictions }) => {
      return { id, state, result, failures, evictions }
    })
  }
  return {
    ...rest,
    jobs: jobs.map(({ token, version, seq: _seq, ...job }) => {
      return { ...job, claimed: token !== null, version: rewrites ? 'any' : version }
    }),
    leases: leases.map(({ token: _token, ...row }) => row),
    claims: claims.filter((row) => !row.void).length,
    named: named.map(({ key, expiresAtMs }) => ({ key, leftMs: expiresAtMs - nowMs })),
  }
}

/** The switches and the watch are one row each, which is there from the start or changed. */
export async function rowsIn(raw: InspectableStore): Promise<number> {
  const { jobs, claims, leases, checkpoints, logs, named, schedules } = await raw.dump()
  const rows = [jobs, claims, leases, checkpoints, logs.flatMap(({ lines }) => lines), named, schedules]
  return rows.reduce((count, { length }) => count + length, 0)
}
