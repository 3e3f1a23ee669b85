import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { assertChanged, assertWithin, failure, released, succeeded, unclaimed } from './fixture.ts'

export const cancelCases: readonly Case[] = [
  {
    name: 'a queued job ends at once, whether it is due, delayed, undispatched or in its backoff (6.2)',
    run: async ({ store, enqueue, start, settle, get, now, claim }) => {
      const { id: back, epoch } = await start()
      await settle(back, epoch, failure({ delayMs: 60_000 }))
      const ids = [...(await enqueue({}, { delayMs: 60_000 }, { undispatched: true })), back]
      for (const id of ids) {
        const before = await get(id)
        const fromMs = await now()
        assert.deepEqual(await store.jobs.requestCancel({ id }), { kind: 'cancelled' })
        const after = await get(id)
        assertWithin(after.finishedAtMs, fromMs, await now())
        const atMs = after.finishedAtMs
        const stamps = { finishedAtMs: atMs, updatedAtMs: atMs, cancelRequestedAtMs: atMs }
        assertChanged(after, before, { ...unclaimed, ...stamps, state: 'cancelled' })
      }
      assert.deepEqual((await claim()).ids, [])
      const { ids: repaired } = await store.jobs.repairDispatch({ limit: 100, olderMs: 0 })
      assert.deepEqual(
        repaired.filter((id) => ids.includes(id)),
        [],
      )
    },
  },
  {
    name: 'a running job is only marked: it runs on, at its epoch and under its lease (6.1)',
    run: async ({ store, start, get, now, settle, worker, unchanged, inspectable }) => {
      const { id, token, epoch } = await start()
      const before = await get(id)
      const leases = 'dump' in store ? (await inspectable().dump()).leases : null
      const fromMs = await now()
      assert.deepEqual(await store.jobs.requestCancel({ id }), { kind: 'requested' })
      const after = await get(id)
      assertWithin(after.cancelRequestedAtMs, fromMs, await now())
      const atMs = after.cancelRequestedAtMs
      assertChanged(after, before, { cancelRequestedAtMs: atMs, updatedAtMs: atMs })
      if (leases) assert.deepEqual((await inspectable().dump()).leases, leases)
      assert.equal((await store.claims.recover({ token, worker })).kind, 'recovered')
      const reply = await unchanged([id], () => settle(id, epoch + 1, { kind: 'cancelled' }))
      assert.deepEqual(reply, { settled: 'lost', state: 'running' })
    },
  },
  {
    name: 'a renewal tells of it, of that job alone and as often as it is asked, and writes no job (6.1, 0.14)',
    run: async ({ store, enqueue, claim, worker, get }) => {
      const ids = (await enqueue({}, {}, { leaseTtlMs: 60_000 })) as [string, string, string]
      const { token } = await claim()
      const held = ids.map((id) => ({ id, epoch: 1, cancel: false }))
      const renew = async (): Promise<unknown> => (await store.claims.renew({ worker, tokens: [token] })).held
      assert.deepEqual(await renew(), held)
      await store.jobs.requestCancel({ id: ids[1] })
      const before = await Promise.all(ids.map(get))
      const told = held.map((job) => ({ ...job, cancel: job.id === ids[1] }))
      for (let round = 0; round < 2; round++) assert.deepEqual(await renew(), told)
      assert.deepEqual(await Promise.all(ids.map(get)), before)
    },
  },
  {
    name: 'asked again, it answers as before and changes nothing (8.3)',
    run: async ({ store, start, enqueueOne, unchanged }) => {
      const { id: running } = await start()
      const queued = await enqueueOne()
      for (const [id, kind] of [
        [running, 'requested'],
        [queued, 'cancelled'],
      ] as const) {
        assert.deepEqual(await store.jobs.requestCancel({ id }), { kind })
        for (let round = 0; round < 2; round++) {
          assert.deepEqual(await unchanged([id], () => store.jobs.requestCancel({ id })), { kind })
        }
      }
    },
  },
  {
    name: 'what has ended stays as it is, and the answer says how it ended (0.15)',
    run: async ({ store, enqueue, claim, settle, unchanged }) => {
      const ids = (await enqueue({}, {}, {})) as [string, string, string]
      await claim()
      await settle(ids[0], 1, succeeded)
      await settle(ids[1], 1, failure({ permanent: true }))
      await settle(ids[2], 1, { kind: 'cancelled' })
      const ask = (id: string): Promise<unknown> => unchanged([id], () => store.jobs.requestCancel({ id }))
      assert.deepEqual(await ask(ids[0]), { kind: 'ended', state: 'succeeded' })
      assert.deepEqual(await ask(ids[1]), { kind: 'ended', state: 'failed' })
      assert.deepEqual(await ask(ids[2]), { kind: 'cancelled' })
    },
  },
  {
    name: 'a job that is not there is missing, and is not made (6.1)',
    run: async ({ store, name, unchanged }) => {
      const id = name('nobody')
      assert.deepEqual(await unchanged([id], () => store.jobs.requestCancel({ id })), { kind: 'missing' })
      assert.equal(await store.jobs.get({ id }), null)
    },
  },
  {
    name: 'of eight cancels at once, one writes, and all answer alike (0.14)',
    run: async ({ store, start, enqueueOne, get }) => {
      const { id: running } = await start()
      const queued = await enqueueOne()
      for (const [id, kind, version] of [
        [running, 'requested', 3],
        [queued, 'cancelled', 2],
      ] as const) {
        const race = Array.from({ length: 8 }, () => store.jobs.requestCancel({ id }))
        for (const reply of await Promise.all(race)) assert.deepEqual(reply, { kind })
        assert.equal((await get(id)).version, version)
      }
    },
  },
  {
    name: 'a cancelled job holds up nobody behind it (2.5)',
    run: async ({ store, enqueue, claim }) => {
      const ids = (await enqueue({ band: 0 }, {}, { band: 3 })) as [string, string, string]
      await store.jobs.requestCancel({ id: ids[0] })
      await store.jobs.requestCancel({ id: ids[1] })
      assert.deepEqual((await claim({ limit: 1 })).ids, [ids[2]])
    },
  },
  {
    name: 'a holder may end a job as cancelled: uncharged, with the error of earlier attempts kept (6.4)',
    run: async ({ store, start, settle, claim, get, now }) => {
      const { id, epoch } = await start({ maxAttempts: 2 })
      await settle(id, epoch, failure())
      await claim()
      await store.jobs.requestCancel({ id })
      const before = await get(id)
      const fromMs = await now()
      const reply = await settle(id, 2, { kind: 'cancelled' })
      assert.deepEqual(reply, { settled: 'applied', state: 'cancelled' })
      const after = await get(id)
      assertWithin(after.finishedAtMs, fromMs, await now())
      const stamps = { finishedAtMs: after.finishedAtMs, updatedAtMs: after.finishedAtMs }
      const lastSettle = { epoch: 2, kind: 'cancelled' } as const
      assertChanged(after, before, { ...unclaimed, ...stamps, state: 'cancelled', lastSettle })
      assert.deepEqual([after.failures, after.evictions], [1, 0])
    },
  },
  {
    name: 'a release given back before the cancel is cancelled in the queue; after it, it does not come back (6.2)',
    run: async ({ store, enqueue, claim, settle, get }) => {
      const [a, b] = (await enqueue({}, {})) as [string, string]
      await claim()
      assert.equal((await settle(a, 1, released)).state, 'queued')
      assert.deepEqual(await store.jobs.requestCancel({ id: a }), { kind: 'cancelled' })
      assert.deepEqual(await store.jobs.requestCancel({ id: b }), { kind: 'requested' })
      assert.deepEqual(await settle(b, 1, released), { settled: 'applied', state: 'cancelled' })
      for (const id of [a, b]) assert.deepEqual((await get(id)).failures, 0)
      assert.deepEqual((await claim()).ids, [])
    },
  },
]
