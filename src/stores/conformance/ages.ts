import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { assertWithin, succeeded } from './fixture.ts'

export const queueAgeCases: readonly Case[] = [
  {
    name: 'a queue is as old as the job that has been due for longest, whatever its kind and band',
    needs: 'clock',
    run: async ({ store, enqueue, advance, queue, name }) => {
      await enqueue({ band: 3, kind: name('kind') })
      await advance(700)
      await enqueue({ band: 0 }, { delayMs: 1_000 }, { atMs: 86_400_000 * 365 * 100 })
      await advance(300)
      assert.deepEqual(await store.jobs.queueAges({ queues: [queue] }), [{ queue, oldestDueMs: 1_000 }])
    },
  },
  {
    name: 'one that is due now has been due for 0 ms; where none is due there is no age',
    needs: 'clock',
    run: async ({ store, enqueue, advance, queue, claim, settle }) => {
      const queues = [queue]
      const ageMs = async (): Promise<unknown> => (await store.jobs.queueAges({ queues }))[0]?.oldestDueMs
      assert.equal(await ageMs(), null)
      const [id] = (await enqueue({ delayMs: 500 }, { undispatched: true })) as [string, string]
      await advance(499)
      assert.equal(await ageMs(), null)
      await advance(1)
      assert.equal(await ageMs(), 0)
      await claim()
      await advance(1_000)
      assert.equal(await ageMs(), null)
      await settle(id, 1, succeeded)
      assert.equal(await ageMs(), null)
    },
  },
  {
    name: 'an answer for each queue that was asked for, in that order',
    needs: 'clock',
    run: async ({ store, enqueue, advance, name }) => {
      const [a, b, none] = [name('queue'), name('queue'), name('queue')]
      await enqueue({ queue: a })
      await advance(20)
      await enqueue({ queue: b })
      await advance(3)
      assert.deepEqual(await store.jobs.queueAges({ queues: [b, none, a, b] }), [
        { queue: b, oldestDueMs: 3 },
        { queue: none, oldestDueMs: null },
        { queue: a, oldestDueMs: 23 },
        { queue: b, oldestDueMs: 3 },
      ])
      assert.deepEqual(await store.jobs.queueAges({ queues: [] }), [])
    },
  },
  {
    name: 'a job on its last eviction counts, and so does what is held or paused',
    needs: 'clock',
    run: async ({ store, start, seen, reclaim, advance, queue }) => {
      await start({ maxEvictions: 2, backoffMs: [0] })
      await seen(30_000)
      assert.equal((await reclaim()).length, 1)
      await advance(40)
      await store.control.set({ queue, paused: true })
      assert.deepEqual(await store.jobs.queueAges({ queues: [queue] }), [{ queue, oldestDueMs: 40 }])
      await store.control.set({ queue, paused: false })
    },
  },
  {
    name: 'a claim says for how long each of its jobs had been due, also after a retry; a recovery cannot tell',
    needs: 'clock',
    run: async ({ store, enqueue, claim, advance, settle, worker }) => {
      const [first] = (await enqueue({ delayMs: 100 }, { delayMs: 250 })) as [string, string]
      await advance(300)
      const { jobs, token } = await claim()
      assert.deepEqual(
        jobs.map(({ waitedMs }) => waitedMs),
        [200, 50],
      )
      const recovered = await store.claims.recover({ token, worker })
      assert.deepEqual('jobs' in recovered && recovered.jobs.map(({ waitedMs }) => waitedMs), [null, null])
      await settle(first, 1, { kind: 'released', delayMs: 10 })
      await advance(17)
      assert.deepEqual(
        (await claim()).jobs.map(({ waitedMs }) => waitedMs),
        [7],
      )
    },
  },
  {
    name: 'on any clock the age grows',
    run: async ({ store, enqueue, pass, queue, now }) => {
      const fromMs = await now()
      await enqueue({})
      await pass(5)
      const [age] = await store.jobs.queueAges({ queues: [queue] })
      assertWithin(age?.oldestDueMs ?? null, 5, (await now()) - fromMs)
    },
  },
]
