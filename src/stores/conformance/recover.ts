import assert from 'node:assert/strict'
import type { ClaimedJob } from '../../engine/ports/store.ts'
import type { Case } from './case.ts'
import { failure, recoveryOf, shortMs, succeeded } from './fixture.ts'

export const recoverCases: readonly Case[] = [
  {
    name: 'a recovery before the claim voids it: the late claim takes nothing (0.10, E09)',
    run: async ({ store, enqueueOne, name, worker, claimParams, claim, unchanged }) => {
      const id = await enqueueOne()
      const token = name('token')
      assert.deepEqual(await store.claims.recover({ token, worker }), { kind: 'voided' })
      const late = await unchanged([id], () => store.claims.claim(claimParams({ token })))
      assert.deepEqual(late, { kind: 'void' })
      assert.deepEqual((await claim()).ids, [id])
    },
  },
  {
    name: 'a recovery after the claim answers what it took, in claim order, at no cost (0.4, 0.10, 27.65)',
    run: async ({ store, enqueue, claim, worker, get }) => {
      const ids = await enqueue({ band: 3 }, { band: 1, leaseTtlMs: 60_000 }, { band: 2, input: '[1]' })
      const { token, jobs } = await claim()
      const before = await Promise.all(ids.map(get))
      assert.deepEqual(await store.claims.recover({ token, worker }), recoveryOf(jobs))
      assert.deepEqual(await Promise.all(ids.map(get)), before)
    },
  },
  {
    name: 'a repeated recovery answers the same (8.2, E09)',
    run: async ({ store, start, name, worker, unchanged }) => {
      const { token, id } = await start()
      const first = await store.claims.recover({ token, worker })
      assert.deepEqual(await store.claims.recover({ token, worker }), first)
      const voided = name('token')
      await store.claims.recover({ token: voided, worker })
      const again = await unchanged([id], () => store.claims.recover({ token: voided, worker }))
      assert.deepEqual(again, { kind: 'voided' })
    },
  },
  {
    name: 'a recovery that races its claim: both agree on who came first (0.10)',
    run: async ({ store, enqueue, claimParams, name, worker, get }) => {
      for (let round = 0; round < 10; round++) {
        const kind = name('kind')
        const ids = await enqueue({ kind }, { kind })
        const params = claimParams({ kinds: [kind] })
        const claim = (): Promise<unknown> => store.claims.claim(params)
        const recover = (): Promise<unknown> => store.claims.recover({ token: params.token, worker })
        const calls = round % 2 === 0 ? [claim(), recover()] : [recover(), claim()]
        const replies = await Promise.all(calls)
        const [claimed, recovered] = round % 2 === 0 ? replies : replies.reverse()
        const states = (await Promise.all(ids.map(get))).map(({ state }) => state)
        if (states.includes('running')) {
          assert.deepEqual(states, ['running', 'running'])
          const { jobs } = claimed as { jobs: readonly ClaimedJob[] }
          assert.deepEqual(recovered, recoveryOf(jobs))
        } else {
          assert.deepEqual([claimed, recovered], [{ kind: 'void' }, { kind: 'voided' }])
        }
      }
    },
  },
  {
    name: 'a recovery answers only what still runs under the token (0.10)',
    run: async ({ store, enqueue, claim, settle, worker }) => {
      const ids = (await enqueue({}, {}, {})) as [string, string, string]
      const { token, jobs } = await claim()
      await settle(ids[0], 1, succeeded)
      await settle(ids[2], 1, failure())
      assert.deepEqual(await store.claims.recover({ token, worker }), recoveryOf([jobs[1]]))
      const second = await claim()
      assert.deepEqual(second.ids, [ids[2]])
      const reply = await store.claims.recover({ token, worker })
      assert.deepEqual(reply, recoveryOf([jobs[1]]))
      await settle(ids[1], 1, succeeded)
      assert.deepEqual(await store.claims.recover({ token, worker }), { kind: 'recovered', jobs: [] })
    },
  },
  {
    name: 'a recovery after the reclaim brings nothing back (0.10, 0.13)',
    run: async ({ store, start, seen, reclaim, worker, unchanged }) => {
      const { id, token } = await start({ leaseTtlMs: shortMs })
      await seen(shortMs)
      await reclaim()
      const reply = await unchanged([id], () => store.claims.recover({ token, worker }))
      assert.deepEqual(reply, { kind: 'recovered', jobs: [] })
    },
  },
  {
    name: 'a recovery renews every lease of the token (0.10)',
    needs: 'clock',
    run: async ({ store, enqueue, claim, seen, reclaim, worker }) => {
      const [a, b] = await enqueue({ leaseTtlMs: 10_000 }, { leaseTtlMs: 12_000 })
      const { token } = await claim()
      await seen(9_000)
      await store.claims.recover({ token, worker })
      await seen(9_999)
      assert.deepEqual(await reclaim(), [])
      await seen(1)
      assert.deepEqual(
        (await reclaim()).map(({ id }) => id),
        [a],
      )
      await seen(1_999)
      assert.deepEqual(await reclaim(), [])
      await seen(1)
      assert.deepEqual(
        (await reclaim()).map(({ id }) => id),
        [b],
      )
    },
  },
  {
    name: 'a recovery leaves the leases of other tokens alone (0.10)',
    needs: 'content',
    run: async ({ store, inspectable, start, name, worker, pass }) => {
      const { token } = await start()
      const leases = async (): Promise<unknown> =>
        (await inspectable().dump()).leases.filter((row) => row.token === token)
      const before = await leases()
      const other = await start()
      await pass(2)
      await store.claims.recover({ token: other.token, worker })
      await store.claims.recover({ token: name('token'), worker })
      assert.deepEqual(await leases(), before)
    },
  },
]
