import assert from 'node:assert/strict'
import type { Outcome } from '../../engine/jobs/record.ts'
import type { Case } from './case.ts'
import { cancelled, failure, released, shortMs, succeeded } from './fixture.ts'

const outcomes: readonly (readonly [string, Outcome])[] = [
  ['success', succeeded],
  ['failure with budget left', failure()],
  ['permanent failure', failure({ permanent: true })],
  ['release', released],
  ['cancel', cancelled],
]

const landed: readonly Case[] = outcomes.map(([what, outcome]) => ({
  name: `a repeat of a ${what} whose reply was lost finds its own outcome (0.15, 8.3, E09)`,
  run: async ({ start, settle, unchanged }) => {
    const { id, epoch } = await start()
    const { state } = await settle(id, epoch, outcome)
    for (let repeat = 0; repeat < 2; repeat++) {
      const reply = await unchanged([id], () => settle(id, epoch, outcome, true))
      assert.deepEqual(reply, { settled: 'applied', state })
    }
  },
}))

const firstTime: readonly Case[] = outcomes.map(([what, outcome]) => ({
  name: `a repeat of a ${what} that never arrived applies now (0.15, E09)`,
  run: async ({ enqueue, claim, settle, get }) => {
    const [a, b] = (await enqueue({}, {})) as [string, string]
    await claim()
    const plain = await settle(a, 1, outcome)
    assert.deepEqual(await settle(b, 1, outcome, true), plain)
    const [one, other] = [await get(a), await get(b)]
    assert.deepEqual([other.state, other.lastSettle, other.version], [one.state, one.lastSettle, one.version])
  },
}))

export const repeatCases: readonly Case[] = [
  ...landed,
  ...firstTime,
  {
    name: 'the same settle again, not marked as a repeat, is lost (0.15, 3.3, 27.77)',
    run: async ({ start, settle, unchanged }) => {
      for (const [, outcome] of outcomes) {
        const { id, epoch } = await start()
        const { state } = await settle(id, epoch, outcome)
        const reply = await unchanged([id], () => settle(id, epoch, outcome))
        assert.deepEqual(reply, { settled: 'lost', state })
        if (state === 'queued') await start()
      }
    },
  },
  {
    name: 'a repeat that finds another outcome at its epoch is superseded (0.15)',
    run: async ({ start, settle, unchanged }) => {
      const { id, epoch } = await start()
      await settle(id, epoch, succeeded)
      for (const outcome of [failure(), released, cancelled]) {
        const reply = await unchanged([id], () => settle(id, epoch, outcome, true))
        assert.deepEqual(reply, { settled: 'superseded', state: 'succeeded' })
      }
    },
  },
  {
    name: 'a repeat still finds its own outcome while the next attempt runs (0.15)',
    run: async ({ start, claim, settle, unchanged }) => {
      const { id, epoch } = await start()
      await settle(id, epoch, released)
      await claim()
      const reply = await unchanged([id], () => settle(id, epoch, released, true))
      assert.deepEqual(reply, { settled: 'applied', state: 'running' })
    },
  },
  {
    name: 'a repeat is superseded once a later attempt has ended, also by the same outcome (0.15, 8.3)',
    run: async ({ start, claim, settle, unchanged }) => {
      const { id, epoch } = await start()
      await settle(id, epoch, failure())
      await claim()
      await settle(id, 2, failure())
      const reply = await unchanged([id], () => settle(id, epoch, failure(), true))
      assert.deepEqual(reply, { settled: 'superseded', state: 'queued' })
    },
  },
  {
    name: 'a job that is settled twice in one group is settled in that order (0.15, 8.3)',
    run: async ({ store, worker, enqueue, start, claim, settle, get }) => {
      const { id, epoch } = await start()
      await settle(id, epoch, released)
      const [other] = await enqueue({})
      await claim({ limit: 2 })
      const { results } = await store.jobs.settle({
        worker,
        settlements: [
          { id, epoch, outcome: released, repeated: true },
          { id: other as string, epoch: 1, outcome: succeeded, repeated: false },
          { id, epoch: 2, outcome: succeeded, repeated: false },
          { id, epoch: 2, outcome: cancelled, repeated: false },
        ],
      })
      assert.deepEqual(results, [
        { settled: 'applied', state: 'running' },
        { settled: 'applied', state: 'succeeded' },
        { settled: 'applied', state: 'succeeded' },
        { settled: 'lost', state: 'succeeded' },
      ])
      assert.equal((await get(id)).epoch, 2)
    },
  },
  {
    name: 'a repeat of what never arrived is superseded after a reclaim, not lost (0.15)',
    run: async ({ start, seen, reclaim, settle, claim, unchanged }) => {
      const { id, epoch } = await start({ leaseTtlMs: shortMs })
      await seen(shortMs)
      await reclaim()
      const reply = await unchanged([id], () => settle(id, epoch, succeeded, true))
      assert.deepEqual(reply, { settled: 'superseded', state: 'queued' })
      await claim()
      const later = await unchanged([id], () => settle(id, epoch, succeeded, true))
      assert.deepEqual(later, { settled: 'superseded', state: 'running' })
    },
  },
  {
    name: 'a reclaim does not hide what was settled before it (0.15)',
    run: async ({ start, claim, seen, reclaim, settle, unchanged }) => {
      const { id, epoch } = await start({ leaseTtlMs: shortMs })
      await settle(id, epoch, released)
      await claim()
      await seen(shortMs)
      assert.equal((await reclaim()).length, 1)
      const reply = await unchanged([id], () => settle(id, epoch, released, true))
      assert.deepEqual(reply, { settled: 'applied', state: 'queued' })
    },
  },
]
