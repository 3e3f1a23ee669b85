import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { shortMs } from './fixture.ts'

/** A claim that names its job: for a host that is there for one. */

export const onlyCases: readonly Case[] = [
  {
    name: 'takes that job, whatever is before it, and its lease is like any other',
    run: async ({ enqueue, claim, get, store, worker }) => {
      const [before, wanted, behind] = (await enqueue({ band: 0 }, {}, { band: 1 })) as [
        string,
        string,
        string,
      ]
      const { ids, token, jobs } = await claim({ only: wanted })
      assert.deepEqual(ids, [wanted])
      assert.deepEqual([jobs[0]?.epoch, jobs[0]?.attempt], [1, 1])
      const { held } = await store.claims.renew({ worker, tokens: [token] })
      assert.deepEqual(
        held.map(({ id }) => id),
        [wanted],
      )
      assert.equal((await get(before)).state, 'queued')
      assert.deepEqual((await claim({ only: wanted })).ids, [])
      assert.deepEqual((await claim()).ids, [before, behind])
    },
  },
  {
    name: 'takes nothing that is not due, of another queue or kind, held, paused, ended, or unknown',
    run: async ({ enqueueOne, start, settle, claim, queue, kind, name, unchanged, store }) => {
      const late = await enqueueOne({ delayMs: 60_000 })
      const nowhere = await enqueueOne({ undispatched: true })
      const elsewhere = await enqueueOne({ queue: name('elsewhere') })
      const unlike = await enqueueOne({ kind: name('unlike') })
      const ended = await start()
      await settle(ended.id, ended.epoch, { kind: 'succeeded', result: null })
      const ids = [late, nowhere, elsewhere, unlike, ended.id]
      await unchanged(ids, async () => {
        for (const only of [...ids, name('nobody')]) assert.deepEqual((await claim({ only })).ids, [])
      })
      const due = await enqueueOne()
      assert.deepEqual((await claim({ only: due, queues: [{ queue, limit: 0 }] })).ids, [])
      assert.deepEqual((await claim({ only: due, kinds: [] })).ids, [])
      await store.control.set({ queue, paused: true })
      assert.deepEqual((await claim({ only: due })).ids, [])
      await store.control.set({ queue, paused: false })
      assert.deepEqual((await claim({ only: due, kinds: [kind] })).ids, [due])
    },
  },
  {
    name: 'on its last eviction it is taken by a worker that runs nothing else, and by no other (0.10)',
    run: async (fixture) => {
      const id = await fixture.enqueueOne({ maxEvictions: 2, leaseTtlMs: shortMs })
      await fixture.claim({ only: id })
      await fixture.seen(shortMs)
      await fixture.reclaim()
      const [passing, waiting, taking] = [
        await fixture.claim({ only: id, solo: 'pass' }),
        await fixture.claim({ only: id, solo: 'await' }),
        await fixture.claim({ only: id, solo: 'take' }),
      ]
      assert.deepEqual([passing.ids, passing.soloWaiting], [[], false])
      assert.deepEqual([waiting.ids, waiting.soloWaiting], [[], true])
      assert.deepEqual([taking.ids, taking.soloWaiting], [[id], false])
    },
  },
  {
    name: 'a token that is there already is void here too',
    run: async ({ enqueueOne, claim, claimParams, store }) => {
      const id = await enqueueOne()
      const { token } = await claim({ only: id })
      assert.deepEqual(await store.claims.claim(claimParams({ token, only: id })), { kind: 'void' })
    },
  },
]
