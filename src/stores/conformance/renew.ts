import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { failure, shortMs, succeeded } from './fixture.ts'

export const renewCases: readonly Case[] = [
  {
    name: 'a renewal answers the epochs held and writes no job (0.10, 0.14, 3.1)',
    run: async ({ store, enqueue, claim, worker, get, pass }) => {
      const ids = await enqueue({ band: 3 }, { band: 1 })
      const { token } = await claim()
      const before = await Promise.all(ids.map(get))
      await pass(1)
      const { held } = await store.claims.renew({ worker, tokens: [token] })
      assert.deepEqual(
        held,
        [...ids].reverse().map((id) => ({ id, epoch: 1, cancel: false })),
      )
      assert.deepEqual(await Promise.all(ids.map(get)), before)
    },
  },
  {
    name: 'a renewal moves each expiry to a whole TTL from now (0.3, 0.10)',
    needs: 'clock',
    run: async ({ store, enqueue, claim, worker, seen, reclaim }) => {
      const [a, b] = await enqueue({ leaseTtlMs: 10_000 }, { leaseTtlMs: 30_000 })
      const { token } = await claim()
      await seen(9_999)
      await store.claims.renew({ worker, tokens: [token] })
      await seen(9_999)
      assert.deepEqual(await reclaim(), [])
      await seen(1)
      assert.deepEqual(
        (await reclaim()).map(({ id }) => id),
        [a],
      )
      await seen(19_999)
      assert.deepEqual(await reclaim(), [])
      await seen(1)
      assert.deepEqual(
        (await reclaim()).map(({ id }) => id),
        [b],
      )
    },
  },
  {
    name: 'a lease that lapsed but was not taken is renewed, and held (0.2, 0.21, E14)',
    run: async ({ store, start, worker, pass, get }) => {
      const { id, token } = await start({ leaseTtlMs: shortMs })
      await pass(2 * shortMs)
      const { held } = await store.claims.renew({ worker, tokens: [token] })
      assert.deepEqual(held, [{ id, epoch: 1, cancel: false }])
      assert.equal((await get(id)).attempt, 1)
    },
  },
  {
    name: 'from then on it is alive for a whole TTL: at its expiry, and long after it (0.2)',
    needs: 'clock',
    run: async ({ store, start, worker, seen, reclaim }) => {
      const { id, token } = await start()
      for (const ms of [30_000, 3_600_000]) {
        await seen(ms)
        const { held } = await store.claims.renew({ worker, tokens: [token] })
        assert.deepEqual(held, [{ id, epoch: 1, cancel: false }])
        assert.deepEqual(await reclaim(), [])
        await seen(29_999)
        assert.deepEqual(await reclaim(), [])
      }
      await seen(1)
      assert.equal((await reclaim()).length, 1)
    },
  },
  {
    name: 'a renewal never revives a lease that was taken (0.13, 3.1, 4.15)',
    run: async ({ store, start, worker, seen, reclaim, unchanged }) => {
      const { id, token } = await start({ leaseTtlMs: shortMs })
      await seen(shortMs)
      assert.equal((await reclaim()).length, 1)
      const { held } = await unchanged([id], () => store.claims.renew({ worker, tokens: [token] }))
      assert.deepEqual(held, [])
    },
  },
  {
    name: 'nor does it touch the lease of the next holder (0.13, E03, E07)',
    run: async ({ store, start, claim, name, worker, seen, reclaim, unchanged }) => {
      const { id, token } = await start({ leaseTtlMs: shortMs })
      await seen(shortMs)
      await reclaim()
      const next = name('worker')
      assert.deepEqual((await claim({ worker: next })).ids, [id])
      const { held } = await unchanged([id], () => store.claims.renew({ worker, tokens: [token] }))
      assert.deepEqual(held, [])
    },
  },
  {
    name: 'another worker renews nothing, though it knows the token (0.13, 3.1, E07)',
    run: async ({ store, start, name, unchanged, pass }) => {
      const { id, token } = await start()
      await pass(1)
      const other = name('worker')
      const { held } = await unchanged([id], () => store.claims.renew({ worker: other, tokens: [token] }))
      assert.deepEqual(held, [])
    },
  },
  {
    name: 'the holder loses at its own expiry what another worker tried to renew (0.13)',
    needs: 'clock',
    run: async ({ store, start, name, seen, reclaim }) => {
      const { id, token } = await start()
      await seen(29_000)
      await store.claims.renew({ worker: name('worker'), tokens: [token] })
      await seen(1_000)
      assert.deepEqual(
        (await reclaim()).map((job) => job.id),
        [id],
      )
    },
  },
  {
    name: 'no tokens, unknown ones and void ones hold nothing (0.10)',
    run: async ({ store, name, worker, unchanged }) => {
      const token = name('token')
      await store.claims.recover({ token, worker })
      for (const tokens of [[], [name('token')], [token]]) {
        assert.deepEqual(await unchanged([], () => store.claims.renew({ worker, tokens })), { held: [] })
      }
    },
  },
  {
    name: 'many tokens in one call: the jobs of each, in the order of the tokens (0.10)',
    run: async ({ store, start, name, worker }) => {
      const [a, b, c] = [await start(), await start(), await start()]
      const tokens = [c.token, name('token'), a.token]
      const { held } = await store.claims.renew({ worker, tokens })
      assert.deepEqual(
        held.map(({ id }) => id),
        [c.id, a.id],
      )
      const all = await store.claims.renew({ worker, tokens: [a.token, b.token, c.token] })
      assert.deepEqual(
        all.held.map(({ id }) => id),
        [a.id, b.id, c.id],
      )
    },
  },
  {
    name: 'jobs that ended, and jobs that run under another token by now, are not held (0.10, 0.13)',
    run: async ({ store, enqueue, claim, settle, worker }) => {
      const ids = (await enqueue({}, {}, {})) as [string, string, string]
      const { token } = await claim()
      await settle(ids[0], 1, succeeded)
      await settle(ids[1], 1, failure())
      const second = await claim()
      assert.deepEqual((await store.claims.renew({ worker, tokens: [token] })).held, [
        { id: ids[2], epoch: 1, cancel: false },
      ])
      const { held } = await store.claims.renew({ worker, tokens: [second.token] })
      assert.deepEqual(held, [{ id: ids[1], epoch: 2, cancel: false }])
    },
  },
  {
    name: 'of a claim with two TTLs, what was taken stays lost and the rest stays held (0.10)',
    run: async ({ store, enqueue, claim, worker, seen, reclaim }) => {
      const [a, b] = await enqueue({ leaseTtlMs: shortMs }, { leaseTtlMs: 3_600_000 })
      const { token } = await claim()
      await seen(shortMs)
      assert.deepEqual(
        (await reclaim()).map(({ id }) => id),
        [a],
      )
      for (let round = 0; round < 2; round++) {
        const { held } = await store.claims.renew({ worker, tokens: [token] })
        assert.deepEqual(held, [{ id: b, epoch: 1, cancel: false }])
      }
      await seen(shortMs)
      assert.deepEqual(await reclaim(), [])
    },
  },
]
