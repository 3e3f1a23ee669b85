import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { failure, shortMs, succeeded } from './fixture.ts'
import { inputs, names } from './hostile.ts'

export const outcomeCases: readonly Case[] = [
  {
    name: 'what has become of jobs, in the order asked, as often as asked; null where there is none (0.15, 14)',
    run: async ({ store, enqueue, claim, settle, name, enqueueOne }) => {
      const ids = (await enqueue({}, {}, {}, {})) as [string, string, string, string]
      await claim()
      await settle(ids[0], 1, succeeded)
      await settle(ids[1], 1, failure({ permanent: true }))
      await settle(ids[2], 1, failure({ delayMs: 60_000 }))
      const cancelled = await enqueueOne()
      await store.jobs.requestCancel({ id: cancelled })
      const error = { code: 'E_TEST', message: 'it broke' }
      const asked = [ids[3], name('nobody'), ids[0], ids[1], cancelled, ids[2], ids[0]]
      assert.deepEqual(await store.jobs.outcomes({ ids: asked }), [
        { state: 'running', result: null, error: null },
        null,
        { state: 'succeeded', result: '{"ok":true}', error: null },
        { state: 'failed', result: null, error },
        { state: 'cancelled', result: null, error: null },
        { state: 'queued', result: null, error },
        { state: 'succeeded', result: '{"ok":true}', error: null },
      ])
      assert.deepEqual(await store.jobs.outcomes({ ids: [] }), [])
    },
  },
  {
    name: 'they say what get says, of results of any text and ids that look alike (1.7, X01)',
    run: async ({ store, enqueue, claim, settle, name, get }) => {
      const base = name('job')
      const ids = names.map((end) => base + end)
      const results = Object.values(inputs)
      await enqueue(...ids.map((id) => ({ id })))
      await claim()
      for (const [n, id] of ids.entries()) {
        await settle(id, 1, { kind: 'succeeded', result: results[n % results.length] as string })
      }
      const reply = await store.jobs.outcomes({ ids })
      for (const [n, id] of ids.entries()) {
        const { state, result, error } = await get(id)
        assert.deepEqual(reply[n], { state, result, error })
        assert.equal(result, results[n % results.length])
      }
    },
  },
  {
    name: 'only the attempt that holds the job leaves a result (0.13, E01)',
    run: async ({ store, start, seen, reclaim, claim, settle, name }) => {
      const { id } = await start({ leaseTtlMs: shortMs })
      await seen(shortMs)
      await reclaim()
      await settle(id, 1, { kind: 'succeeded', result: '"stale"' })
      await claim({ worker: name('worker') })
      await settle(id, 1, { kind: 'succeeded', result: '"stale"' })
      const running = { state: 'running', result: null }
      const before = (await store.jobs.outcomes({ ids: [id] }))[0]
      assert.deepEqual([before?.state, before?.result], Object.values(running))
      await settle(id, 3, { kind: 'succeeded', result: '"true"' })
      await settle(id, 1, { kind: 'succeeded', result: '"stale"' }, true)
      assert.equal((await store.jobs.outcomes({ ids: [id] }))[0]?.result, '"true"')
    },
  },
]
