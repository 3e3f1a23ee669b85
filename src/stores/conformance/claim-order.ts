import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { failure, released } from './fixture.ts'

export const claimOrderCases: readonly Case[] = [
  {
    name: 'band, then visible time, then insertion; across queues and kinds (0.8)',
    run: async ({ store, name, newJob, claim, now }) => {
      const queues = [name('queue'), name('queue')]
      const kinds = [name('kind'), name('kind'), name('kind')]
      const baseMs = (await now()) - 10_000
      const jobs = Array.from({ length: 40 }, (_, n) =>
        newJob({
          queue: queues[n % 2] as string,
          kind: kinds[(n * 5) % 3] as string,
          band: (n * 7) % 4,
          atMs: baseMs + ((n * 13) % 5),
        }),
      )
      const order = jobs
        .map(({ spec, due }, n) => ({ id: spec.id, band: spec.band, n, atMs: 'atMs' in due ? due.atMs : 0 }))
        .sort((a, b) => a.band - b.band || a.atMs - b.atMs || a.n - b.n)
        .map(({ id }) => id)
      await store.jobs.insert({ insertId: name('insert'), jobs: jobs.slice(0, 15) })
      await store.jobs.insert({ insertId: name('insert'), jobs: jobs.slice(15) })
      const taken: string[] = []
      for (const limit of [1, 7, 100]) {
        const batch = await claim({ limit, kinds, queues: queues.map((queue) => ({ queue, limit: 100 })) })
        taken.push(...batch.ids)
      }
      assert.deepEqual(taken, order)
    },
  },
  {
    name: 'jobs of one call run first in, first out, whatever their ids (0.8)',
    run: async ({ enqueue, name, claim }) => {
      const base = name('job')
      const ids = ['9', '10', 'b', 'a', 'Z', '0'].map((end) => `${base}-${end}`)
      await enqueue(...ids.map((id) => ({ id })))
      assert.deepEqual((await claim()).ids, ids)
    },
  },
  {
    name: 'the limit takes the first of all queues, not some of each (0.8, 2.6)',
    run: async ({ enqueue, name, claim }) => {
      const [a, b] = [name('queue'), name('queue')]
      const ids = await enqueue({ queue: b, band: 1 }, { queue: a }, { queue: b, band: 1 })
      const queues = [a, b].map((queue) => ({ queue, limit: 9 }))
      assert.deepEqual((await claim({ limit: 2, queues })).ids, [ids[0], ids[2]])
    },
  },
  {
    name: 'a queue without room left does not block those behind it (0.7, 2.5)',
    run: async ({ enqueue, name, claim }) => {
      const [a, b] = [name('queue'), name('queue')]
      const ids = await enqueue({ queue: a }, { queue: a }, { queue: a }, { queue: b })
      const queues = [
        { queue: a, limit: 1 },
        { queue: b, limit: 1 },
      ]
      assert.deepEqual((await claim({ queues })).ids, [ids[0], ids[3]])
    },
  },
  {
    name: 'neither a delayed job nor one of another kind blocks a ready one behind it (2.5)',
    run: async ({ enqueue, name, claim }) => {
      const ids = await enqueue({ band: 0, delayMs: 3_600_000 }, { band: 0, kind: name('kind') }, { band: 3 })
      assert.deepEqual((await claim({ limit: 1 })).ids, [ids[2]])
    },
  },
  {
    name: 'a job that comes back goes to the back of its band, and stays in it (0.8, 27.63)',
    run: async ({ enqueue, claim, settle, pass }) => {
      const ids = await enqueue({}, {}, {}, { band: 3 })
      const { jobs } = await claim({ limit: 2 })
      await pass(2)
      await settle(ids[0] as string, jobs[0]?.epoch ?? 0, released)
      await pass(2)
      await settle(ids[1] as string, jobs[1]?.epoch ?? 0, failure())
      assert.deepEqual((await claim()).ids, [ids[2], ids[0], ids[1], ids[3]])
    },
  },
  {
    name: 'a job that comes back keeps its insertion sequence (0.8)',
    run: async ({ start, settle, get }) => {
      const { id, epoch } = await start()
      const { seq } = await get(id)
      await settle(id, epoch, released)
      assert.equal((await get(id)).seq, seq)
    },
  },
]
