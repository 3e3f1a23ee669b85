import assert from 'node:assert/strict'
import type { SettleReply, Settlement } from '../../engine/ports/store.ts'
import type { Case } from './case.ts'
import { assertChanged, assertWithin, failure, released, shortMs, succeeded, unclaimed } from './fixture.ts'

const error = { code: 'E_TEST', message: 'it broke' }

export const settleCases: readonly Case[] = [
  {
    name: 'success ends the job with its result, and clears the error of earlier attempts (0.15, 0.16)',
    run: async ({ start, claim, settle, get, now }) => {
      const { id, epoch } = await start()
      await settle(id, epoch, failure())
      await claim()
      const before = await get(id)
      const fromMs = await now()
      assert.deepEqual(await settle(id, 2, succeeded), { settled: 'applied', state: 'succeeded' })
      const after = await get(id)
      assertWithin(after.finishedAtMs, fromMs, await now())
      const stamps = { finishedAtMs: after.finishedAtMs, updatedAtMs: after.finishedAtMs }
      const lastSettle = { epoch: 2, kind: 'succeeded' } as const
      const end = { state: 'succeeded', result: '{"ok":true}', error: null, lastSettle } as const
      assertChanged(after, before, { ...unclaimed, ...stamps, ...end })
    },
  },
  {
    name: 'success without a result is not the result null (0.15)',
    run: async ({ enqueue, claim, settle, get }) => {
      const [a, b] = (await enqueue({}, {})) as [string, string]
      await claim()
      await settle(a, 1, { kind: 'succeeded', result: null })
      await settle(b, 1, { kind: 'succeeded', result: 'null' })
      assert.equal((await get(a)).result, null)
      assert.equal((await get(b)).result, 'null')
    },
  },
  {
    name: 'a failure within the budget is charged and returns after its delay (0.4, 0.5, 3.5, 3.10)',
    run: async ({ start, settle, get, now }) => {
      const { id, epoch } = await start({ maxAttempts: 2 })
      const before = await get(id)
      const fromMs = await now()
      const reply = await settle(id, epoch, failure({ delayMs: 90_000 }))
      assert.deepEqual(reply, { settled: 'applied', state: 'queued' })
      const after = await get(id)
      assertWithin(after.updatedAtMs, fromMs, await now())
      const { updatedAtMs } = after
      const back = {
        state: 'queued',
        failures: 1,
        error,
        visibleAtMs: updatedAtMs + 90_000,
        updatedAtMs,
      } as const
      assertChanged(after, before, { ...unclaimed, ...back, lastSettle: { epoch, kind: 'failed' } })
    },
  },
  {
    name: 'a returned job is due at the end of its delay (0.6, 2.2)',
    needs: 'clock',
    run: async ({ start, settle, claim, advance }) => {
      const { id, epoch } = await start()
      await settle(id, epoch, failure({ delayMs: 1_000 }))
      await advance(999)
      assert.deepEqual((await claim()).ids, [])
      await advance(1)
      assert.deepEqual((await claim()).ids, [id])
    },
  },
  {
    name: 'three attempts are three executions: the third failure dead-letters (0.5)',
    run: async ({ enqueueOne, claim, settle, get }) => {
      const id = await enqueueOne({ maxAttempts: 3 })
      for (const epoch of [1, 2]) {
        await claim()
        assert.equal((await settle(id, epoch, failure())).state, 'queued')
      }
      await claim()
      const before = await get(id)
      assert.deepEqual(await settle(id, 3, failure()), { settled: 'applied', state: 'failed' })
      const after = await get(id)
      const stamps = { finishedAtMs: after.updatedAtMs, updatedAtMs: after.updatedAtMs }
      const end = { state: 'failed', failures: 3, lastSettle: { epoch: 3, kind: 'failed' } } as const
      assertChanged(after, before, { ...unclaimed, ...stamps, ...end })
      assert.deepEqual((await claim()).ids, [])
    },
  },
  {
    name: 'a permanent failure dead-letters at once, and is charged once (0.5, 0.23)',
    run: async ({ start, settle, get }) => {
      const { id, epoch } = await start({ maxAttempts: 9 })
      const reply = await settle(id, epoch, failure({ permanent: true, delayMs: 5 }))
      assert.deepEqual(reply, { settled: 'applied', state: 'failed' })
      const { failures, visibleAtMs, error: why } = await get(id)
      assert.deepEqual([failures, visibleAtMs, why], [1, null, error])
    },
  },
  {
    name: 'a release costs neither budget, also when both are spent (0.4)',
    run: async ({ start, settle, claim, get }) => {
      const { id, epoch } = await start({ maxAttempts: 2 })
      await settle(id, epoch, failure())
      for (const next of [2, 3, 4, 5]) {
        await claim()
        const before = await get(id)
        const reply = await settle(id, next, released)
        assert.deepEqual(reply, { settled: 'applied', state: 'queued' })
        const after = await get(id)
        const { updatedAtMs } = after
        const lastSettle = { epoch: next, kind: 'released' } as const
        const back = { state: 'queued', visibleAtMs: updatedAtMs, updatedAtMs, lastSettle } as const
        assertChanged(after, before, { ...unclaimed, ...back })
        assert.deepEqual([after.failures, after.evictions, after.error], [1, 0, error])
      }
    },
  },
  {
    name: 'a job that nobody has claimed cannot be settled, whatever the epoch (0.13, 3.3)',
    run: async ({ enqueueOne, settle, unchanged }) => {
      const id = await enqueueOne()
      for (const epoch of [0, 1, -1]) {
        for (const outcome of [succeeded, failure(), released]) {
          const reply = await unchanged([id], () => settle(id, epoch, outcome))
          assert.deepEqual(reply, { settled: 'lost', state: 'queued' })
        }
      }
    },
  },
  {
    name: 'a missing job answers lost, repeated or not (0.13)',
    run: async ({ name, settle, unchanged }) => {
      const id = name('nobody')
      for (const repeated of [false, true]) {
        const reply = await unchanged([id], () => settle(id, 1, succeeded, repeated))
        assert.deepEqual(reply, { settled: 'lost', state: null })
      }
    },
  },
  {
    name: 'a holder that was evicted can write nothing, before the next claim and after it (0.13, E01, E03)',
    run: async ({ start, seen, reclaim, settle, claim, get, name, unchanged }) => {
      const { id, epoch } = await start({ leaseTtlMs: shortMs })
      await seen(shortMs)
      await reclaim()
      const outcomes = [succeeded, failure(), failure({ permanent: true }), released]
      for (const outcome of outcomes) {
        const reply = await unchanged([id], () => settle(id, epoch, outcome))
        assert.deepEqual(reply, { settled: 'lost', state: 'queued' })
      }
      const second = await claim({ worker: name('worker') })
      assert.equal(second.jobs[0]?.epoch, 3)
      for (const outcome of outcomes) {
        for (const stale of [epoch, 2, 4]) {
          const reply = await unchanged([id], () => settle(id, stale, outcome))
          assert.deepEqual(reply, { settled: 'lost', state: 'running' })
        }
      }
      await settle(id, 3, { kind: 'succeeded', result: '"second"' })
      const late = await unchanged([id], () => settle(id, epoch, { kind: 'succeeded', result: '"first"' }))
      assert.deepEqual(late, { settled: 'lost', state: 'succeeded' })
      assert.equal((await get(id)).result, '"second"')
    },
  },
  {
    name: 'many settlements: each on its own, answered in the order given (0.13, 0.16)',
    run: async ({ store, enqueue, claim, settle, name, worker, get }) => {
      const base = name('job')
      const ids = ['d', 'b', 'c', 'a'].map((end) => `${base}-${end}`) as [string, string, string, string]
      const [queued] = await enqueue({ delayMs: 60_000 })
      await enqueue(...ids.map((id) => ({ id })))
      await claim()
      await settle(ids[1], 1, released)
      const of = (id: string, outcome: Settlement['outcome']): Settlement => {
        return { id, epoch: 1, outcome, repeated: false }
      }
      const settlements = [
        of(ids[0], succeeded),
        of(name('nobody'), succeeded),
        of(ids[1], succeeded),
        of(ids[3], failure({ permanent: true })),
        of(queued as string, released),
        of(ids[2], released),
      ]
      const { results } = await store.jobs.settle({ worker, settlements })
      assert.deepEqual(
        results.map(({ settled, state }) => [settled, state]),
        [
          ['applied', 'succeeded'],
          ['lost', null],
          ['lost', 'queued'],
          ['applied', 'failed'],
          ['lost', 'queued'],
          ['applied', 'queued'],
        ],
      )
      const states = (await Promise.all(ids.map(get))).map(({ state }) => state)
      assert.deepEqual(states, ['succeeded', 'queued', 'queued', 'failed'])
    },
  },
  {
    name: 'settlements that say where their jobs lie are settled like any others (0.13, 0.16)',
    run: async ({ store, enqueue, claim, worker, get }) => {
      await enqueue(...Array.from({ length: 5 }, () => ({ maxAttempts: 2 })))
      const { token, jobs } = await claim()
      const outcomes = [succeeded, failure(), failure({ permanent: true }), released, succeeded]
      const settlements = jobs.map(({ spec, epoch, seq }, n): Settlement => {
        const outcome = outcomes[n] as Settlement['outcome']
        return {
          id: spec.id,
          epoch: n === 4 ? epoch - 1 : epoch,
          outcome,
          repeated: false,
          claimed: { token, seq },
        }
      })
      const { results } = await store.jobs.settle({ worker, settlements })
      const expected = [
        ['applied', 'succeeded'],
        ['applied', 'queued'],
        ['applied', 'failed'],
        ['applied', 'queued'],
        ['lost', 'running'],
      ]
      assert.deepEqual(
        results.map(({ settled, state }) => [settled, state]),
        expected,
      )
      const records = await Promise.all(jobs.map(({ spec }) => get(spec.id)))
      assert.deepEqual(
        records.map(({ state }) => state),
        expected.map(([, state]) => state),
      )
    },
  },
  {
    name: 'the sequence of another job under an id is nobody: neither of the two is settled (0.13)',
    run: async ({ store, enqueue, claim, worker, get, name, unchanged }) => {
      const [one, other] = (await enqueue({}, {})) as [string, string]
      await claim()
      const { seq } = await get(other)
      const claimed = { token: name('before the restore'), seq }
      const settlement: Settlement = { id: one, epoch: 1, outcome: succeeded, repeated: false, claimed }
      const settle = (): Promise<SettleReply> => store.jobs.settle({ worker, settlements: [settlement] })
      const { results } = await unchanged([one, other], settle)
      assert.deepEqual(results, [{ settled: 'lost', state: null }])
    },
  },
  {
    name: 'no settlements, no results (0.16)',
    run: async ({ store, worker }) => {
      assert.deepEqual(await store.jobs.settle({ worker, settlements: [] }), { results: [] })
    },
  },
  {
    name: 'of eight settles that race for one attempt, one applies (0.15, 3.3)',
    run: async ({ start, settle, get }) => {
      const { id, epoch } = await start()
      const race = Array.from({ length: 8 }, (_, n) =>
        settle(id, epoch, { kind: 'succeeded', result: `${n}` }),
      )
      const replies = await Promise.all(race)
      const winner = replies.findIndex(({ settled }) => settled === 'applied')
      assert.equal(replies.filter(({ settled }) => settled === 'lost').length, 7)
      const { result, version } = await get(id)
      assert.deepEqual([result, version], [`${winner}`, 3])
    },
  },
  {
    name: 'two calls that settle the same jobs in opposite order do not block each other (0.10)',
    run: async ({ store, enqueue, claim, worker }) => {
      const ids = await enqueue(...Array.from({ length: 10 }, () => ({})))
      await claim()
      const settlements = ids.map((id) => ({ id, epoch: 1, outcome: succeeded, repeated: false }))
      const [one, other] = await Promise.all([
        store.jobs.settle({ worker, settlements }),
        store.jobs.settle({ worker, settlements: [...settlements].reverse() }),
      ])
      const opposite = [...other.results].reverse()
      for (const [n, { settled }] of one.results.entries()) {
        assert.deepEqual(new Set([settled, opposite[n]?.settled]), new Set(['applied', 'lost']))
      }
    },
  },
]
