import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { assertChanged, assertEnds, assertWithin, failure, released, succeeded } from './fixture.ts'

export const claimCases: readonly Case[] = [
  {
    name: 'a claim starts an attempt: running, epoch and attempt + 1, stamped by the database (0.4, 0.13, 2.1)',
    run: async ({ enqueueOne, claim, get, now }) => {
      const id = await enqueueOne({ input: '{"n":1}', leaseTtlMs: 6 * 3_600_000 })
      const before = await get(id)
      const fromMs = await now()
      const { token, jobs, soloWaiting } = await claim()
      const after = await get(id)
      assertWithin(after.claimedAtMs, fromMs, await now())
      const { claimedAtMs } = after
      const started = { state: 'running', epoch: 1, attempt: 1, visibleAtMs: null, token } as const
      assertChanged(after, before, { ...started, claimedAtMs, updatedAtMs: claimedAtMs })
      const waitedMs = claimedAtMs - (before.visibleAtMs ?? 0)
      assert.deepEqual(jobs, [
        { spec: before.spec, epoch: 1, attempt: 1, failures: 0, evictions: 0, waitedMs, seq: before.seq },
      ])
      assert.equal(soloWaiting, false)
    },
  },
  {
    name: 'each job comes with what it states, whatever those before it in its batch, and in the last one, do (2.1)',
    run: async ({ enqueue, claim, get }) => {
      const kinds = [{}, {}, { maxAttempts: 9 }, { leaseTtlMs: 31_000 }, {}, { maxAttempts: 9 }, {}] as const
      const ids = await enqueue(...kinds)
      const specs = []
      for (const limit of [1, 2, 1, 3]) specs.push(...(await claim({ limit })).jobs.map(({ spec }) => spec))
      assert.deepEqual(specs, await Promise.all(ids.map(async (id) => (await get(id)).spec)))
    },
  },
  {
    name: 'the second attempt has a higher epoch and says what was charged (0.4, 0.13)',
    run: async ({ start, claim, settle }) => {
      const { id, epoch } = await start()
      await settle(id, epoch, failure())
      const second = await claim()
      assert.deepEqual(
        second.jobs.map((job) => [job.epoch, job.attempt, job.failures]),
        [[2, 2, 1]],
      )
      await settle(id, 2, released)
      const third = await claim()
      assert.deepEqual(
        third.jobs.map((job) => [job.epoch, job.attempt, job.failures]),
        [[3, 3, 1]],
      )
    },
  },
  {
    name: 'a job is due at its visible time, not a millisecond before (0.8, 2.2, E15)',
    needs: 'clock',
    run: async ({ enqueueOne, claim, advance }) => {
      const id = await enqueueOne({ delayMs: 6 * 3_600_000 })
      await advance(6 * 3_600_000 - 1)
      assert.deepEqual((await claim()).ids, [])
      await advance(1)
      assert.deepEqual((await claim()).ids, [id])
    },
  },
  {
    name: 'only the queues and kinds that were named are claimed (0.7, 2.5)',
    run: async ({ enqueue, name, queue, kind, claim }) => {
      const [otherQueue, otherKind] = [name('queue'), name('kind')]
      const [, , mine] = await enqueue({ queue: otherQueue }, { kind: otherKind }, {})
      const [, b] = await enqueue({ queue: otherQueue, kind: name('kind') }, { kind: otherKind })
      assert.deepEqual((await claim()).ids, [mine])
      assert.deepEqual(
        (await claim({ queues: [{ queue: otherQueue, limit: 9 }], kinds: [otherKind] })).ids,
        [],
      )
      const rest = await claim({ queues: [{ queue, limit: 9 }], kinds: [name('kind'), otherKind] })
      assert.equal(rest.ids.length, 2)
      assert.equal(rest.ids[1], b)
      assert.equal((await claim({ queues: [{ queue: otherQueue, limit: 9 }], kinds: [kind] })).ids.length, 1)
    },
  },
  {
    name: 'nothing is claimed without a limit, a queue, a kind or room, whatever the token (0.9, 2.7, 27.14)',
    run: async ({ store, enqueueOne, claimParams, queue, name, worker, unchanged, claim }) => {
      const id = await enqueueOne()
      const voided = name('token')
      await store.claims.recover({ token: voided, worker })
      const nothing = { kind: 'claimed', jobs: [], soloWaiting: false }
      for (const token of [name('token'), voided]) {
        for (const none of [
          { limit: 0 },
          { limit: -1 },
          { queues: [] },
          { kinds: [] },
          { queues: [{ queue, limit: 0 }] },
          { queues: [{ queue, limit: -1 }] },
        ]) {
          const params = claimParams({ token, ...none })
          assert.deepEqual(await unchanged([id], () => store.claims.claim(params)), nothing)
        }
      }
      assert.deepEqual((await claim()).ids, [id])
    },
  },
  {
    name: 'the limit of each queue and the limit of the claim both hold (0.7, 2.6)',
    run: async ({ enqueue, name, claim }) => {
      const [a, b] = [name('queue'), name('queue')]
      await enqueue(...Array.from({ length: 5 }, () => ({ queue: a })))
      await enqueue(...Array.from({ length: 5 }, () => ({ queue: b })))
      const room = (...limits: [number, number]): { queue: string; limit: number }[] => [
        { queue: a, limit: limits[0] },
        { queue: b, limit: limits[1] },
      ]
      const queuesOf = async (limit: number, queues: { queue: string; limit: number }[]): Promise<string[]> =>
        (await claim({ limit, queues })).jobs.map(({ spec }) => spec.queue)
      assert.deepEqual(await queuesOf(9, room(2, 1)), [a, a, b])
      assert.deepEqual(await queuesOf(3, room(2, 9)), [a, a, b])
      assert.deepEqual(await queuesOf(9, room(0, 1)), [b])
      assert.deepEqual(await queuesOf(9, room(9, 9)), [a, b, b])
    },
  },
  {
    name: 'a token that is there already takes nothing (0.10, 27.65)',
    run: async ({ store, start, enqueueOne, claimParams, unchanged }) => {
      const { token, id } = await start()
      const waiting = await enqueueOne()
      const reply = await unchanged([id, waiting], () => store.claims.claim(claimParams({ token })))
      assert.deepEqual(reply, { kind: 'void' })
    },
  },
  {
    name: 'a claim that found nothing leaves nothing behind (0.10)',
    run: async ({ store, claim, worker, unchanged }) => {
      const { token, ids } = await unchanged([], () => claim())
      assert.deepEqual(ids, [])
      assert.deepEqual(await store.claims.recover({ token, worker }), { kind: 'voided' })
    },
  },
  {
    name: 'running and finished jobs are not claimed (2.5, 27.77)',
    run: async ({ enqueue, claim, settle, unchanged }) => {
      const ids = await enqueue({}, {}, {})
      const { jobs } = await claim()
      await settle(ids[0] as string, jobs[0]?.epoch ?? 0, succeeded)
      await settle(ids[1] as string, jobs[1]?.epoch ?? 0, failure({ permanent: true }))
      assert.deepEqual((await unchanged(ids, () => claim())).ids, [])
    },
  },
  {
    name: 'of eight claimers that race for one job, one wins, and one attempt starts (2.1)',
    run: async ({ enqueueOne, claim, name, get }) => {
      const id = await enqueueOne()
      const race = Array.from({ length: 8 }, () => claim({ worker: name('worker') }))
      const winners = (await Promise.all(race)).filter(({ ids }) => ids.length > 0)
      assert.equal(winners.length, 1)
      const { attempt, epoch, token, version } = await get(id)
      assert.deepEqual([attempt, epoch, version, token], [1, 1, 2, winners[0]?.token])
    },
  },
  {
    name: 'four claimers that drain a queue take each job once (2.1)',
    run: async ({ enqueue, claim, name }) => {
      const ids = await enqueue(...Array.from({ length: 20 }, () => ({})))
      const drain = async (): Promise<string[]> => {
        const [worker, taken] = [name('worker'), [] as string[]]
        // A claimer that meets only rows locked by others may come away with nothing, hence the second look.
        for (let empty = 0, calls = 0; empty < 2; calls++) {
          assertEnds(calls)
          const batch = await claim({ worker, limit: 2 })
          taken.push(...batch.ids)
          empty = batch.ids.length === 0 ? empty + 1 : 0
        }
        return taken
      }
      const taken = await Promise.all(Array.from({ length: 4 }, drain))
      assert.deepEqual(taken.flat().sort(), ids.sort())
    },
  },
  {
    name: 'a claim makes one header and one lease row for each TTL, with the expiry of its own TTL (0.3, 0.10)',
    needs: 'content',
    run: async ({ inspectable, enqueue, claim, worker, get }) => {
      const ids = await enqueue(...[60_000, 30_000, 60_000].map((leaseTtlMs) => ({ leaseTtlMs })))
      const { token } = await claim()
      const { claimedAtMs } = await get(ids[0] as string)
      const { claims, leases } = await inspectable().dump()
      assert.deepEqual(
        claims.filter((row) => row.token === token),
        [{ token, worker, void: false }],
      )
      assert.deepEqual(
        leases.filter((row) => row.token === token),
        [30_000, 60_000].map((ttlMs) => ({ token, ttlMs, worker, expiresAtMs: (claimedAtMs ?? 0) + ttlMs })),
      )
    },
  },
]
