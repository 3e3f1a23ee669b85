import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { type Fixture, type JobOptions, failure, released, shortMs } from './fixture.ts'

/** A queued job that has lost all of its leases but one. */
async function onLastEviction(fixture: Fixture, options: JobOptions = {}): Promise<string> {
  const kind = options.kind ?? fixture.kind
  const id = await fixture.enqueueOne({ maxEvictions: 2, leaseTtlMs: shortMs, kind, ...options })
  await fixture.claim({ kinds: [kind], limit: 1 })
  await fixture.seen(shortMs)
  assert.deepEqual(
    (await fixture.reclaim()).map((job) => [job.id, job.evictions, job.state]),
    [[id, 1, 'queued']],
  )
  return id
}

export const soloCases: readonly Case[] = [
  {
    name: 'a job on its last eviction is claimed alone (0.10)',
    run: async (fixture) => {
      const id = await onLastEviction(fixture)
      await fixture.pass(1)
      const [behind] = await fixture.enqueue({}, {})
      const { ids, jobs, soloWaiting } = await fixture.claim({ solo: 'take' })
      assert.deepEqual(ids, [id])
      assert.equal(jobs[0]?.evictions, 1)
      assert.equal(soloWaiting, false)
      assert.equal((await fixture.claim({ limit: 1 })).ids[0], behind)
    },
  },
  {
    name: 'a worker that runs something leaves it, takes nothing behind it, and hears of it (0.10)',
    run: async (fixture) => {
      const id = await onLastEviction(fixture)
      await fixture.pass(1)
      const [behind] = await fixture.enqueue({})
      const busy = await fixture.unchanged([id, behind as string], () => fixture.claim({ solo: 'await' }))
      assert.deepEqual(busy.ids, [])
      assert.equal(busy.soloWaiting, true)
    },
  },
  {
    name: 'what comes before it is taken without it (0.8, 0.10)',
    run: async (fixture) => {
      const id = await onLastEviction(fixture)
      await fixture.pass(1)
      const ids = await fixture.enqueue({ band: 0 }, { band: 1 }, { band: 2 }, { band: 3 })
      for (const solo of ['take', 'await'] as const) {
        const ahead = await fixture.claim({ solo })
        assert.deepEqual(ahead.ids, solo === 'take' ? ids.slice(0, 2) : [])
        assert.equal(ahead.soloWaiting, true)
      }
      assert.deepEqual((await fixture.claim()).ids, [id])
      assert.deepEqual((await fixture.claim()).ids, ids.slice(2))
    },
  },
  {
    name: 'a worker whose room is full before it comes to that job does not hear of it (0.10)',
    run: async (fixture) => {
      await onLastEviction(fixture)
      const [ahead] = await fixture.enqueue({ band: 0 })
      const { ids, soloWaiting } = await fixture.claim({ solo: 'await', limit: 1 })
      assert.deepEqual(ids, [ahead])
      assert.equal(soloWaiting, false)
    },
  },
  {
    name: 'it holds nobody up once its queue is filled up by the same claim (0.7, 0.10)',
    run: async (fixture) => {
      const id = await onLastEviction(fixture)
      const other = fixture.name('queue')
      const ids = await fixture.enqueue({ band: 0 }, { band: 3, queue: other }, { band: 3, queue: other })
      const queues = (limit: number): { queue: string; limit: number }[] => [
        { queue: fixture.queue, limit: 1 },
        { queue: other, limit },
      ]
      const first = await fixture.claim({ queues: queues(1) })
      assert.deepEqual([first.ids, first.soloWaiting], [ids.slice(0, 2), false])
      const second = await fixture.claim({ queues: queues(9), solo: 'await' })
      assert.deepEqual([second.ids, second.soloWaiting], [[], true])
      assert.deepEqual((await fixture.claim({ queues: queues(9) })).ids, [id])
      assert.deepEqual((await fixture.claim({ queues: queues(9) })).ids, [ids[2]])
    },
  },
  {
    name: 'two such jobs are claimed one after the other (0.10)',
    run: async (fixture) => {
      const first = await onLastEviction(fixture)
      await fixture.pass(1)
      const second = await onLastEviction(fixture, { kind: fixture.name('kind') })
      const kinds = [fixture.kind, (await fixture.get(second)).spec.kind]
      assert.deepEqual((await fixture.claim({ kinds })).ids, [first])
      assert.deepEqual((await fixture.claim({ kinds })).ids, [second])
    },
  },
  {
    name: 'one that is not due, not asked for or without room in its queue holds nobody up (0.7, 0.10)',
    run: async (fixture) => {
      await onLastEviction(fixture, { backoffMs: [3_600_000] })
      await onLastEviction(fixture, { kind: fixture.name('kind') })
      const [ready] = await fixture.enqueue({ band: 3 })
      const { ids, soloWaiting } = await fixture.claim({ solo: 'await' })
      assert.deepEqual(ids, [ready])
      assert.equal(soloWaiting, false)
      const third = fixture.name('kind')
      await onLastEviction(fixture, { kind: third })
      const queues = [
        { queue: fixture.queue, limit: 0 },
        { queue: fixture.name('queue'), limit: 1 },
      ]
      assert.equal((await fixture.claim({ solo: 'await', kinds: [third], queues })).soloWaiting, false)
    },
  },
  {
    name: 'it stays alone when it comes back: no settle gives evictions back (0.4, 0.10)',
    run: async (fixture) => {
      const id = await onLastEviction(fixture)
      for (const outcome of [released, failure()]) {
        const { jobs } = await fixture.claim()
        await fixture.settle(id, jobs[0]?.epoch ?? 0, outcome)
        assert.equal((await fixture.claim({ solo: 'await' })).soloWaiting, true)
        assert.deepEqual((await fixture.claim({ solo: 'pass' })).ids, [])
      }
    },
  },
  {
    name: 'a worker that passes takes what is before it and behind it, and hears of nothing (0.10)',
    run: async (fixture) => {
      const id = await onLastEviction(fixture)
      await fixture.pass(1)
      const ids = await fixture.enqueue({ band: 3 }, { band: 0 }, {}, { band: 1 })
      const order = [ids[1], ids[3], ids[2], ids[0]]
      const before = await fixture.get(id)
      const first = await fixture.claim({ solo: 'pass', limit: 3 })
      assert.deepEqual([first.ids, first.soloWaiting], [order.slice(0, 3), false])
      const rest = await fixture.claim({ solo: 'pass' })
      assert.deepEqual([rest.ids, rest.soloWaiting], [order.slice(3), false])
      const none = await fixture.unchanged([id], () => fixture.claim({ solo: 'pass' }))
      assert.deepEqual([none.ids, none.soloWaiting], [[], false])
      assert.deepEqual(await fixture.get(id), before)
      assert.deepEqual((await fixture.claim()).ids, [id])
    },
  },
  {
    name: 'passing over the first of them passes over all, of every queue and kind (0.10)',
    run: async (fixture) => {
      const [queue, kind] = [fixture.name('queue'), fixture.name('kind')]
      await onLastEviction(fixture, { band: 0 })
      await onLastEviction(fixture, { kind, band: 3 })
      const ids = await fixture.enqueue({ queue }, { kind }, { kind, queue, band: 3 })
      const queues = [fixture.queue, queue].map((queue) => ({ queue, limit: 1 }))
      const claimed = await fixture.claim({ solo: 'pass', queues, kinds: [kind, fixture.kind] })
      assert.deepEqual([claimed.ids, claimed.soloWaiting], [ids.slice(0, 2), false])
    },
  },
  {
    name: 'a job that dies by its first eviction has lost none yet, so it is claimed like any other (0.10)',
    run: async ({ enqueue, claim }) => {
      const ids = await enqueue({ maxEvictions: 1 }, {}, { maxEvictions: 2 })
      assert.deepEqual((await claim({ solo: 'await' })).ids, ids)
    },
  },
]
