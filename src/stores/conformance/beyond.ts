import assert from 'node:assert/strict'
import type { JobError, Outcome } from '../../engine/jobs/record.ts'
import type { CommandParams } from '../../engine/ports/store.ts'
import type { Case } from './case.ts'
import {
  type Fixture,
  type JobOptions,
  assertEnds,
  cancelled,
  failure,
  released,
  shortMs,
  succeeded,
} from './fixture.ts'

/**
 * What a newer release may have added to a job, and this one does not know. Each text is JSON, read as it would come
 * out of a row, so that names such as `__proto__` are own members.
 */
const added = String.raw`{
  "ahead": {"deep": [{"a": null}, [], {}, "\u0000 \ud800 é😀 '; --", 1e308, -0.1, 9007199254740993, true], "": ""},
  "__proto__": {"polluted": 1}, "constructor": null, "7": "seven", "labels": "x", "beyond": {"beyond": {}}}`
const addedToLineage =
  '{"root": "r", "parent": "p", "replays": 4, "by": {"whom": ["é", 1.5]}, "__proto__": 1}'
const addedToMetadata = String.raw`{"a": "b", "tree": {"of": [1, {"\u0000": "\ud800"}]}, "n": 1, "none": null}`

function membersOf(n: number): JobOptions {
  const own = { ...(JSON.parse(added) as object), nth: [n] }
  return {
    ...own,
    metadata: JSON.parse(addedToMetadata) as Record<string, string>,
    tenant: 'T',
    keys: ['order:1', 'tenant=T'],
  }
}

/** One job with such members, and the same look at it after each change. */
interface Hand {
  readonly id: string
  /** Claims it, and looks at what the claim says of it, too. */
  start(): Promise<{ readonly epoch: number; readonly token: string }>
  looks(after: string): Promise<void>
  command(): Promise<CommandParams>
}

async function handOf(fixture: Fixture, options: JobOptions = {}): Promise<Hand> {
  const { store, newJob, name, claim, get } = fixture
  const job = newJob({ ...membersOf(1), backoffMs: [0], ...options })
  const { spec } = job
  const { id } = spec
  await store.jobs.insert({ insertId: name('insert'), jobs: [job] })
  const looks = async (after: string): Promise<void> => assert.deepEqual((await get(id)).spec, spec, after)
  await looks('insert')
  return {
    id,
    looks,
    start: async () => {
      const { jobs, token } = await claim()
      const [claimed] = jobs
      assert.ok(claimed, 'nothing was claimed')
      assert.deepEqual(claimed.spec, spec, 'claim')
      await looks('claim')
      return { epoch: claimed.epoch, token }
    },
    command: async () => ({ id, version: (await get(id)).version, command: name('command') }),
  }
}

const throughAttempts: readonly Case[] = [
  {
    name: 'members that this release does not know survive each way in which an attempt goes on and ends (0.19, 25.5, 27.56)',
    run: async (fixture) => {
      const { store, settle, worker } = fixture
      const hand = await handOf(fixture, { maxAttempts: 9 })
      const { id } = hand
      const ends: readonly Outcome[] = [released, failure(), failure(), succeeded]
      for (const end of ends) {
        const { epoch, token } = await hand.start()
        await store.claims.renew({ worker, tokens: [token] })
        await hand.looks('renewal')
        await store.jobs.progress({ id, epoch, percent: 1, phase: 'p' })
        await hand.looks('progress')
        await store.jobs.checkpoint({ id, epoch, key: 'k', value: '1' })
        await hand.looks('checkpoint')
        assert.equal((await settle(id, epoch, end)).settled, 'applied')
        await hand.looks(end.kind)
      }
    },
  },
  {
    name: 'and a failure for good, a discard, a retry, a move, a cancel and its end (0.19, 25.5)',
    run: async (fixture) => {
      const { store, settle } = fixture
      const hand = await handOf(fixture)
      const { id } = hand
      const first = await hand.start()
      await settle(id, first.epoch, failure({ permanent: true }))
      await hand.looks('failure for good')
      await store.deadLetters.discard({ ids: [id] })
      await hand.looks('discard')
      await store.jobs.retry(await hand.command())
      await hand.looks('retry')
      assert.equal((await store.jobs.reschedule({ ...(await hand.command()), delayMs: 0 })).kind, 'applied')
      await hand.looks('reschedule')
      const { epoch } = await hand.start()
      assert.equal((await store.jobs.requestCancel({ id })).kind, 'requested')
      await hand.looks('request to cancel')
      await settle(id, epoch, cancelled)
      await hand.looks('cancel')
      await store.jobs.retry(await hand.command())
      assert.equal((await store.jobs.requestCancel({ id })).kind, 'cancelled')
      await hand.looks('cancel of a queued job')
    },
  },
  {
    name: 'and a reclaim, a timeout, and a claim whose answer was lost (0.10, 0.19, 27.56)',
    run: async (fixture) => {
      const { store, seen, reclaim, get, worker } = fixture
      const hand = await handOf(fixture, { leaseTtlMs: shortMs, timeoutMs: shortMs, maxEvictions: 9 })
      const { id } = hand
      const { token } = await hand.start()
      const recovered = await store.claims.recover({ token, worker })
      assert.ok(recovered.kind === 'recovered')
      assert.deepEqual(recovered.jobs[0]?.spec, (await get(id)).spec)
      await hand.looks('recovery')
      await seen(2 * shortMs)
      assert.deepEqual(
        (await reclaim()).map((job) => job.id),
        [id],
      )
      await hand.looks('reclaim')
      await hand.start()
      await seen(3 * shortMs)
      for (let calls = 0; (await get(id)).state === 'running'; calls++) {
        assertEnds(calls)
        await store.jobs.expireTimeouts({ limit: 1_000 })
      }
      await hand.looks('timeout')
    },
  },
  {
    name: 'and an adoption (4.5, 0.19)',
    needs: ['clock', 'unlease'],
    run: async (fixture) => {
      const { store, unlease, seen, get } = fixture
      const hand = await handOf(fixture)
      const { token } = await hand.start()
      await unlease(token)
      await seen(60_000)
      for (let calls = 0; (await get(hand.id)).state === 'running'; calls++) {
        assertEnds(calls)
        await store.jobs.adopt({ limit: 1_000, silentMs: 60_000 })
      }
      await hand.looks('adoption')
      await hand.start()
    },
  },
  {
    name: 'and the repair of a job without a place in the queue (0.11, 0.19)',
    run: async (fixture) => {
      const { store, get } = fixture
      const hand = await handOf(fixture, { undispatched: true })
      for (let calls = 0; (await get(hand.id)).visibleAtMs === null; calls++) {
        assertEnds(calls)
        await store.jobs.repairDispatch({ limit: 1_000, olderMs: 0 })
      }
      await hand.looks('repair')
      await hand.start()
    },
  },
  {
    name: 'and a transaction of its handler (0.16, 0.19)',
    needs: 'commits',
    run: async (fixture) => {
      const { store } = fixture
      const hand = await handOf(fixture)
      const { epoch } = await hand.start()
      const work = (): { result: string } => ({ result: '1' })
      const { kind } = (await store.commits?.transact({ id: hand.id, epoch, work })) ?? {}
      assert.equal(kind, 'committed')
      await hand.looks('commit')
    },
  },
]

const toOthers: readonly Case[] = [
  {
    name: 'the replay of a dead letter states them too, also what is within its lineage, and so does a replay of that (16.2, 0.19)',
    run: async (fixture) => {
      const { store, settle, get, name } = fixture
      const lineage = JSON.parse(addedToLineage) as { root: string; parent: string; replays: number }
      const hand = await handOf(fixture, { lineage })
      const { spec } = await get(hand.id)
      let id = hand.id
      let { epoch } = await hand.start()
      for (const replays of [5, 6]) {
        await settle(id, epoch, failure({ permanent: true }))
        const [parent, as] = [id, name('replay')]
        await store.deadLetters.replay({ command: name('command'), replays: [{ id, as }] })
        const from = { ...lineage, parent, replays }
        const again = { ...spec, id: as, lineage: from }
        assert.deepEqual((await get(as)).spec, again)
        await hand.looks('replay')
        const { jobs } = await fixture.claim()
        assert.deepEqual(
          jobs.map((job) => job.spec),
          [again],
        )
        id = as
        epoch = jobs[0]?.epoch ?? 0
      }
    },
  },
  {
    name: 'a job that a schedule makes has them, and the schedule keeps its own, whatever is done with it (17, 0.19)',
    run: async (fixture) => {
      const { store, name, newJob, get } = fixture
      const key = name('schedule')
      const spec = `{"job":${added},\n "é": 1.0}`
      await store.schedules.put({ key, version: null, command: 'a', spec, nextAtMs: 1_000 })
      await store.schedules.pause({ key, version: 'a', command: 'b', paused: true })
      await store.schedules.pause({ key, version: 'b', command: 'c', paused: false })
      const jobs = [1, 2].map((n) => newJob({ ...membersOf(n) }))
      const slots = jobs.map((job, n) => ({ atMs: 1_000 + n, job }))
      const fired = await store.schedules.fire({ key, version: 'c', command: 'd', slots, nextAtMs: 2_000 })
      assert.equal(fired.kind, 'fired')
      for (const job of jobs) assert.deepEqual((await get(job.spec.id)).spec, job.spec)
      assert.equal((await store.schedules.get({ key }))?.spec, spec)
      assert.equal(
        (await store.schedules.list({ limit: 9_999, after: null })).schedules.find((row) => row.key === key)
          ?.spec,
        spec,
      )
    },
  },
  {
    name: 'of many that are alike in all else, each has its own; and some have none (0.19)',
    run: async (fixture) => {
      const { store, name, newJob, get, claim } = fixture
      // What they have alike is the same object, as one call of a producer sends it.
      const { backoffMs, keys, metadata } = newJob(membersOf(1)).spec
      const none = { backoffMs, keys, metadata }
      const has = (n: number): JobOptions => ({ ...membersOf(n), ...none })
      const jobs = [none, has(1), has(2), none, has(2)].map((options) => newJob({ ...options, tenant: 'T' }))
      await store.jobs.insert({ insertId: name('insert'), jobs })
      for (const { spec } of jobs) assert.deepEqual((await get(spec.id)).spec, spec)
      assert.deepEqual(
        (await claim()).jobs.map(({ spec }) => spec),
        jobs.map(({ spec }) => spec),
      )
    },
  },
  {
    name: 'an insert again with others, or with none, leaves them as they are (0.17, 0.19)',
    run: async (fixture) => {
      const { store, name, newJob, unchanged } = fixture
      const { id } = await handOf(fixture)
      for (const options of [{}, membersOf(2)]) {
        const jobs = [newJob({ ...options, id })]
        const again = await unchanged([id], () => store.jobs.insert({ insertId: name('insert'), jobs }))
        assert.deepEqual(again, { kind: 'inserted', jobs: [{ id, created: false }] })
      }
    },
  },
  {
    name: 'lists tell them, of jobs and of dead letters, and find these jobs as others (12, 16.1)',
    run: async (fixture) => {
      const { store, queue, settle, get, enqueueOne } = fixture
      const hand = await handOf(fixture)
      const none = await enqueueOne({ delayMs: 60_000 })
      const { epoch } = await hand.start()
      await settle(hand.id, epoch, failure({ permanent: true }))
      const { spec } = await get(hand.id)
      const ask = { limit: 9, cursor: null, queues: [queue] }
      const dead = await store.deadLetters.list(ask)
      assert.deepEqual(
        dead.jobs.map((job) => job.spec),
        [spec],
      )
      for (const own of [{ tenant: 'T' }, { keys: ['order:1'] }, { dead: true }]) {
        const { jobs } = await store.queries.list({ ...ask, ...own, payloads: true })
        assert.deepEqual(
          jobs.map((job) => job.spec),
          [spec],
        )
      }
      const nobodys = await store.queries.list({ ...ask, tenant: null, payloads: false })
      assert.deepEqual(
        nobodys.jobs.map((job) => job.spec.id),
        [none],
      )
    },
  },
]

/** As a newer release may say more of why something failed. */
const error = JSON.parse(
  '{"code": "E", "message": "m", "cause": {"code": "F", "of": [1, null]}, "__proto__": {"a": 1}}',
) as JobError

const ofRecord: readonly Case[] = [
  {
    name: 'of an error, and of what is told of it, they stay as long as it does (0.19, 25.5)',
    run: async (fixture) => {
      const { store, settle, start, claim, get } = fixture
      const { id, epoch } = await start({ maxAttempts: 9 })
      await settle(id, epoch, { kind: 'failed', error, permanent: false, delayMs: 0 })
      const told = async (): Promise<unknown[]> => {
        const { error: last, events } = await get(id)
        return [last, events.find(({ kind }) => kind === 'failed')?.error]
      }
      assert.deepEqual(await told(), [error, error])
      const { version } = await get(id)
      await store.jobs.reschedule({ id, version, command: 'c', delayMs: 0 })
      assert.deepEqual(await told(), [error, error])
      const { jobs } = await claim()
      await store.jobs.progress({ id, epoch: jobs[0]?.epoch ?? 0, percent: 1, phase: null })
      await store.jobs.requestCancel({ id })
      assert.deepEqual(await told(), [error, error])
      await settle(id, jobs[0]?.epoch ?? 0, cancelled)
      assert.deepEqual(await told(), [error, error])
    },
  },
]

export const beyondCases: readonly Case[] = [...throughAttempts, ...toOthers, ...ofRecord]
