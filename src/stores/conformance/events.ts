import assert from 'node:assert/strict'
import type { JobEvent } from '../../engine/jobs/record.ts'
import type { Case } from './case.ts'
import { type Fixture, failure, released, shortMs, succeeded } from './fixture.ts'

/** What is told of a job beside its state: what went wrong, what operators did, whether it is a dead letter. */

/** Without their instants, of which each is told to be that of its write. */
async function told({ get }: Fixture, id: string): Promise<Omit<JobEvent, 'atMs'>[]> {
  const { events, updatedAtMs } = await get(id)
  for (const [n, { atMs }] of events.entries()) {
    assert.ok(atMs >= (events[n - 1]?.atMs ?? 0) && atMs <= updatedAtMs, `event ${n} at ${atMs}`)
  }
  return events.map(({ atMs: _atMs, ...event }) => event)
}

const broken = { code: 'E_TEST', message: 'it broke' }

export const eventCases: readonly Case[] = [
  {
    name: 'a life without trouble leaves none, and no dead letter',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start()
      await fixture.settle(id, epoch, succeeded)
      assert.deepEqual(await told(fixture, id), [])
      assert.equal((await fixture.get(id)).deadAtMs, null)
    },
  },
  {
    name: 'failures and releases, each with the attempt it ended, and the last failure is a dead letter (16.1)',
    run: async (fixture) => {
      const { settle, claim, get } = fixture
      const { id, epoch } = await fixture.start({ maxAttempts: 2 })
      await settle(id, epoch, released)
      await claim()
      await settle(id, epoch + 1, failure())
      assert.equal((await get(id)).deadAtMs, null)
      await claim()
      await settle(id, epoch + 2, failure())
      assert.deepEqual(await told(fixture, id), [
        { kind: 'released', attempt: 1, epoch, error: null },
        { kind: 'failed', attempt: 2, epoch: epoch + 1, error: broken },
        { kind: 'failed', attempt: 3, epoch: epoch + 2, error: broken },
      ])
      const { deadAtMs, finishedAtMs, replayedAs } = await get(id)
      assert.ok(deadAtMs !== null && deadAtMs === finishedAtMs)
      assert.equal(replayedAs, null)
    },
  },
  {
    name: 'an eviction, with the epoch that was taken; the last is a dead letter (0.5, E10)',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start({ leaseTtlMs: shortMs, maxEvictions: 1 })
      await fixture.seen(2 * shortMs)
      await fixture.reclaim()
      const error = { code: 'LEASE_LOST', message: 'lease lost x1' }
      assert.deepEqual(await told(fixture, id), [{ kind: 'evicted', attempt: 1, epoch, error }])
      assert.ok((await fixture.get(id)).deadAtMs !== null)
    },
  },
  {
    name: 'a timeout of the backstop, likewise (0.6)',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start({ leaseTtlMs: shortMs, timeoutMs: shortMs, maxAttempts: 1 })
      await fixture.seen(3 * shortMs)
      await fixture.store.jobs.expireTimeouts({ limit: 1_000 })
      const error = { code: 'TIMEOUT', message: `attempt exceeded ${shortMs} ms` }
      assert.deepEqual(await told(fixture, id), [{ kind: 'timed-out', attempt: 1, epoch, error }])
      assert.ok((await fixture.get(id)).deadAtMs !== null)
    },
  },
  {
    name: 'what operators did; a retry takes the job out of the dead letters (5.12)',
    run: async (fixture) => {
      const { get, name, store } = fixture
      const { id, epoch } = await fixture.start()
      await fixture.settle(id, epoch, failure({ permanent: true }))
      const at = async (): Promise<{ id: string; version: number; command: string }> => {
        return { id, version: (await get(id)).version, command: name('command') }
      }
      await store.jobs.retry(await at())
      assert.equal((await get(id)).deadAtMs, null)
      await store.jobs.reschedule({ ...(await at()), delayMs: 1_000 })
      await store.jobs.requestCancel({ id })
      assert.deepEqual(await told(fixture, id), [
        { kind: 'failed', attempt: 1, epoch, error: broken },
        { kind: 'retried', attempt: 1, epoch, error: null },
        { kind: 'rescheduled', attempt: 1, epoch, error: null },
        { kind: 'cancel-requested', attempt: 1, epoch, error: null },
      ])
      assert.equal((await get(id)).deadAtMs, null)
    },
  },
  {
    name: 'the last twenty are kept',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start()
      for (let n = 0; n < 23; n++) {
        await fixture.settle(id, epoch + n, released)
        await fixture.claim()
      }
      const epochs = (await told(fixture, id)).map((event) => event.epoch)
      assert.deepEqual(
        epochs,
        Array.from({ length: 20 }, (_, n) => epoch + 3 + n),
      )
    },
  },
  {
    name: 'an error of any text is told as it is stored',
    run: async (fixture) => {
      const error = { code: 'E"\u0000\uD800', message: 'ä😀\u0000\\u0000\uD800', stack: "'; --" }
      const { id, epoch } = await fixture.start()
      await fixture.settle(id, epoch, { kind: 'failed', error, permanent: false, delayMs: 0 })
      const stored = (await fixture.get(id)).error
      assert.deepEqual(await told(fixture, id), [{ kind: 'failed', attempt: 1, epoch, error: stored }])
    },
  },
  {
    name: 'whose a job is, what it is found by, how long it is kept and what it replays come back, and to its claim',
    run: async ({ enqueueOne, claim, get, name }) => {
      const lineage = { root: name('root'), parent: name('parent'), replays: 2 }
      const labels = { tenant: 'ä"\\1', keys: ['order:"Ä😀', 'tenant=ä"\\1'], keepMs: 7, lineage }
      const id = await enqueueOne(labels)
      const plain = await enqueueOne()
      const { tenant, keys, keepMs, lineage: from } = (await get(id)).spec
      assert.deepEqual({ tenant, keys, keepMs, lineage: from }, labels)
      const { jobs } = await claim()
      assert.deepEqual(jobs[0]?.spec, (await get(id)).spec)
      assert.deepEqual(jobs[1]?.spec, (await get(plain)).spec)
      assert.deepEqual(jobs[1]?.spec.keys, [])
    },
  },
]
