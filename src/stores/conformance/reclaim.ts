import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { assertChanged, assertWithin, failure, shortMs, succeeded, unclaimed } from './fixture.ts'

export const reclaimCases: readonly Case[] = [
  {
    name: 'an evicted job comes back with a new epoch, charged one eviction and no failure (0.4, 0.6, 4.1)',
    run: async ({ start, claim, settle, seen, reclaim, get, now }) => {
      const { id } = await start({ leaseTtlMs: shortMs, backoffMs: [7_000, 9_000] })
      await settle(id, 1, failure())
      await claim()
      const before = await get(id)
      await seen(shortMs)
      const fromMs = await now()
      assert.deepEqual(await reclaim(), [{ id, epoch: 3, evictions: 1, state: 'queued' }])
      const after = await get(id)
      assertWithin(after.updatedAtMs, fromMs, await now())
      const { updatedAtMs } = after
      const back = { state: 'queued', visibleAtMs: updatedAtMs + 7_000, updatedAtMs } as const
      const error = { code: 'LEASE_LOST', message: 'lease lost x1' }
      assertChanged(after, before, { ...unclaimed, ...back, epoch: 3, evictions: 1, error })
      assert.deepEqual([after.failures, after.attempt], [1, 2])
    },
  },
  {
    name: 'it waits longer with each eviction, by the table; the last entry serves all later ones (0.6, E16)',
    run: async ({ start, claim, seen, reclaim, get }) => {
      const { id } = await start({ leaseTtlMs: shortMs, backoffMs: [0, 1, 3_600_000], maxEvictions: 9 })
      for (const delayMs of [0, 1]) {
        await seen(shortMs)
        await reclaim()
        const { visibleAtMs, updatedAtMs } = await get(id)
        assert.equal((visibleAtMs ?? 0) - updatedAtMs, delayMs)
        await seen(1)
        assert.deepEqual((await claim()).ids, [id])
      }
      await seen(shortMs)
      await reclaim()
      const { visibleAtMs, updatedAtMs } = await get(id)
      assert.equal((visibleAtMs ?? 0) - updatedAtMs, 3_600_000)
    },
  },
  {
    name: 'later evictions than the table has entries wait as long as the last (E16)',
    run: async ({ start, claim, seen, reclaim, get }) => {
      const { id } = await start({ leaseTtlMs: shortMs, backoffMs: [2], maxEvictions: 9 })
      for (let eviction = 1; eviction <= 4; eviction++) {
        await seen(shortMs)
        await reclaim()
        const { visibleAtMs, updatedAtMs, evictions } = await get(id)
        assert.deepEqual([(visibleAtMs ?? 0) - updatedAtMs, evictions], [2, eviction])
        await seen(2)
        await claim()
      }
    },
  },
  {
    name: 'the last eviction dead-letters it as lease lost (0.5, E10)',
    run: async ({ start, claim, seen, reclaim, get, now }) => {
      const { id } = await start({ leaseTtlMs: shortMs, maxEvictions: 2 })
      await seen(shortMs)
      await reclaim()
      await claim()
      const before = await get(id)
      await seen(shortMs)
      const fromMs = await now()
      assert.deepEqual(await reclaim(), [{ id, epoch: 4, evictions: 2, state: 'failed' }])
      const after = await get(id)
      assertWithin(after.finishedAtMs, fromMs, await now())
      const stamps = { updatedAtMs: after.finishedAtMs, finishedAtMs: after.finishedAtMs }
      const error = { code: 'LEASE_LOST', message: 'lease lost x2' }
      const end = { state: 'failed', epoch: 4, evictions: 2, error } as const
      assertChanged(after, before, { ...unclaimed, ...stamps, ...end })
      assert.deepEqual((await claim()).ids, [])
    },
  },
  {
    name: 'what was taken is not taken again, and the next claim raises the epoch once more (0.13, 4.2)',
    run: async ({ start, claim, seen, reclaim, unchanged }) => {
      const { id } = await start({ leaseTtlMs: shortMs })
      await seen(shortMs)
      assert.equal((await reclaim()).length, 1)
      assert.deepEqual(await unchanged([id], reclaim), [])
      const { jobs } = await claim()
      assert.deepEqual(
        jobs.map(({ epoch, attempt, evictions }) => [epoch, attempt, evictions]),
        [[3, 2, 1]],
      )
    },
  },
  {
    name: 'a lease row goes with its jobs, and the header stays until it is collected (0.10)',
    needs: 'content',
    run: async ({ inspectable, enqueue, claim, seen, reclaim, worker }) => {
      await enqueue({ leaseTtlMs: shortMs }, { leaseTtlMs: 3_600_000 })
      const { token } = await claim()
      await seen(shortMs)
      await reclaim()
      const { claims, leases } = await inspectable().dump()
      const ttls = leases.filter((row) => row.token === token).map(({ ttlMs }) => ttlMs)
      assert.deepEqual(ttls, [3_600_000])
      assert.deepEqual(
        claims.filter((row) => row.token === token),
        [{ token, worker, void: false }],
      )
    },
  },
  {
    name: 'a live lease is never taken (4.3)',
    run: async ({ start, seen, reclaim }) => {
      await start({ leaseTtlMs: 3_600_000 })
      const { id } = await start({ leaseTtlMs: shortMs })
      await seen(shortMs)
      assert.deepEqual(
        (await reclaim()).map((job) => job.id),
        [id],
      )
    },
  },
  {
    name: 'a limit of nothing takes nothing, and leaves it to a later one (0.9, 4.4, 27.14)',
    run: async ({ store, start, seen, reclaim, unchanged }) => {
      const { id } = await start({ leaseTtlMs: shortMs })
      await seen(shortMs)
      for (const limit of [0, -1]) {
        const reply = await unchanged([id], () => store.jobs.reclaim({ limit }))
        assert.deepEqual(reply, { jobs: [], heldBack: 0, full: false })
      }
      assert.equal((await reclaim()).length, 1)
    },
  },
  {
    name: 'a lease row is taken whole, whatever the limit; the rows of other TTLs stay (0.10)',
    run: async ({ enqueue, claim, seen, reclaim, get }) => {
      const ids = await enqueue(
        { leaseTtlMs: shortMs },
        { leaseTtlMs: 3_600_000 },
        { leaseTtlMs: shortMs },
        { leaseTtlMs: shortMs },
      )
      await claim()
      await seen(shortMs)
      assert.deepEqual(
        (await reclaim(1)).map(({ id }) => id),
        [ids[0], ids[2], ids[3]],
      )
      assert.equal((await get(ids[1] as string)).state, 'running')
    },
  },
  {
    name: 'of a lapsed lease only what still runs under it is taken (0.13, 0.15)',
    run: async ({ enqueue, claim, settle, seen, reclaim, get }) => {
      const ids = await enqueue(...Array.from({ length: 3 }, () => ({ leaseTtlMs: shortMs })))
      await claim()
      await settle(ids[0] as string, 1, succeeded)
      await settle(ids[1] as string, 1, failure({ delayMs: 3_600_000 }))
      await seen(shortMs)
      assert.deepEqual(await reclaim(), [{ id: ids[2], epoch: 2, evictions: 1, state: 'queued' }])
      assert.deepEqual(
        (await Promise.all(ids.map(get))).map(({ state, evictions }) => [state, evictions]),
        [
          ['succeeded', 0],
          ['queued', 0],
          ['queued', 1],
        ],
      )
    },
  },
  {
    name: 'the lease of an ended attempt takes nothing from the next holder (0.13)',
    run: async ({ start, claim, settle, pass, seen, reclaim, store, worker }) => {
      const { id } = await start({ leaseTtlMs: shortMs })
      await pass(shortMs)
      await settle(id, 1, failure())
      const { token } = await claim()
      await seen(shortMs)
      await store.claims.renew({ worker, tokens: [token] })
      assert.deepEqual(await reclaim(), [])
    },
  },
  {
    name: 'of four that reclaim at once, each job is taken once (4.2)',
    run: async ({ enqueue, claim, seen, reclaim, get }) => {
      const ids = await enqueue(...Array.from({ length: 20 }, () => ({ leaseTtlMs: shortMs })))
      for (let n = 0; n < 7; n++) await claim({ limit: 3 })
      await seen(shortMs)
      const taken = await Promise.all(Array.from({ length: 4 }, () => reclaim(2)))
      taken.push(await reclaim())
      assert.deepEqual(
        taken
          .flat()
          .map(({ id }) => id)
          .sort(),
        [...ids].sort(),
      )
      for (const id of ids) assert.equal((await get(id)).evictions, 1)
    },
  },
  {
    name: 'a renewal that races the reclaim: the lease is held or taken, never both (0.2, 0.10)',
    run: async ({ store, start, worker, seen, reclaim, get }) => {
      for (let round = 0; round < 6; round++) {
        const { id, token } = await start({ leaseTtlMs: shortMs, backoffMs: [3_600_000] })
        await seen(shortMs)
        const renew = (): Promise<unknown> => store.claims.renew({ worker, tokens: [token] })
        await Promise.all(round % 2 === 0 ? [renew(), reclaim()] : [reclaim(), renew()])
        const { held } = await store.claims.renew({ worker, tokens: [token] })
        const { state } = await get(id)
        assert.equal(held.length, state === 'running' ? 1 : 0)
      }
    },
  },
]
