import assert from 'node:assert/strict'
import type { ClaimReply, Control } from '../../engine/ports/store.ts'
import type { Case } from './case.ts'
import { type Fixture, failure, shortMs, succeeded } from './fixture.ts'
import { names } from './hostile.ts'

const nothing: ClaimReply = { kind: 'claimed', jobs: [], soloWaiting: false }

/** Of a store that others use too, only what this case paused. */
function own({ paused }: Control, queue: string): string[] {
  return paused.filter((name) => name.startsWith(queue))
}

async function paused(fixture: Fixture, queue = fixture.queue): Promise<void> {
  const control = await fixture.store.control.set({ queue, paused: true })
  assert.ok(control.paused.includes(queue))
}

export const controlCases: readonly Case[] = [
  {
    name: 'of a paused queue nothing is claimed, of the others everything, until it goes on (0.12)',
    run: async (fixture) => {
      const { store, enqueue, claim, claimParams, queue, name, unchanged } = fixture
      const other = name('queue')
      const [mine, theirs] = (await enqueue({}, { queue: other })) as [string, string]
      await paused(fixture)
      const none = await unchanged([mine], () => store.claims.claim(claimParams()))
      assert.deepEqual(none, nothing)
      const queues = [queue, other].map((queue) => ({ queue, limit: 9 }))
      assert.deepEqual((await claim({ queues })).ids, [theirs])
      await store.control.set({ queue, paused: false })
      assert.deepEqual((await claim({ queues })).ids, [mine])
    },
  },
  {
    name: 'a claim that found a queue paused leaves nothing behind under its token (0.10, 0.12)',
    run: async (fixture) => {
      const { store, enqueueOne, claim, worker } = fixture
      await enqueueOne()
      await paused(fixture)
      const { token } = await claim()
      await store.control.set({ queue: fixture.queue, paused: false })
      assert.deepEqual(await store.claims.recover({ token, worker }), { kind: 'voided' })
    },
  },
  {
    name: 'a job on its last eviction in a paused queue holds nobody up (0.10, 0.12)',
    run: async (fixture) => {
      const { start, seen, reclaim, enqueueOne, claim, queue, name } = fixture
      await start({ leaseTtlMs: shortMs, maxEvictions: 2, band: 0 })
      await seen(shortMs)
      await reclaim()
      const other = name('queue')
      const theirs = await enqueueOne({ queue: other })
      await paused(fixture)
      const queues = [queue, other].map((queue) => ({ queue, limit: 9 }))
      const { ids, soloWaiting } = await claim({ queues, solo: 'await' })
      assert.deepEqual([ids, soloWaiting], [[theirs], false])
    },
  },
  {
    name: 'what runs goes on: it is renewed, settled and reclaimed, and what comes back waits (0.12)',
    run: async (fixture) => {
      const { store, enqueue, claim, settle, seen, reclaim, worker, get, queue } = fixture
      const ids = (await enqueue({}, {}, { leaseTtlMs: shortMs })) as [string, string, string]
      const { token } = await claim()
      await paused(fixture)
      assert.equal((await store.claims.renew({ worker, tokens: [token] })).held.length, 3)
      assert.equal((await settle(ids[0], 1, succeeded)).settled, 'applied')
      assert.equal((await settle(ids[1], 1, failure())).state, 'queued')
      await seen(shortMs)
      assert.equal((await reclaim()).length, 1)
      assert.deepEqual((await claim()).ids, [])
      await store.control.set({ queue, paused: false })
      assert.deepEqual((await claim()).ids, [ids[1], ids[2]])
      assert.equal((await get(ids[0])).state, 'succeeded')
    },
  },
  {
    name: 'jobs are inserted into a paused queue, and cancelled in it (0.12)',
    run: async (fixture) => {
      const { store, enqueue, claim, queue } = fixture
      await paused(fixture)
      const [kept, ended] = (await enqueue({}, {})) as [string, string]
      assert.deepEqual(await store.jobs.requestCancel({ id: ended }), { kind: 'cancelled' })
      await store.control.set({ queue, paused: false })
      assert.deepEqual((await claim()).ids, [kept])
    },
  },
  {
    name: 'set answers the switches after the change, get the same; set again, nothing changes (8.3, 0.12)',
    run: async ({ store, queue, unchanged }) => {
      const ends = ['é', 'B', '😀', 'a', '\uFFFD', '']
      const inOrder = ['', 'B', 'a', 'é', '\uFFFD', '😀']
      for (const end of ends) await store.control.set({ queue: queue + end, paused: true })
      const set = (): Promise<Control> => store.control.set({ queue, paused: true })
      const answers = [await unchanged([], set), await store.control.get()]
      for (const control of answers) {
        assert.deepEqual(
          own(control, queue),
          inOrder.map((end) => queue + end),
        )
      }
      for (const end of ends) {
        const go = (): Promise<Control> => store.control.set({ queue: queue + end, paused: false })
        assert.ok(!(await go()).paused.includes(queue + end))
        await unchanged([], go)
      }
      assert.deepEqual(own(await store.control.get(), queue), [])
    },
  },
  {
    name: 'queues that look alike are paused one by one (1.7)',
    run: async ({ store, newJob, name, claim }) => {
      const base = name('queue')
      const jobs = names.map((end) => newJob({ queue: base + end }))
      await store.jobs.insert({ insertId: name('insert'), jobs })
      const queues = names.map((end) => ({ queue: base + end, limit: 9 }))
      const half = names.filter((_, n) => n % 2 === 0)
      for (const end of half) await store.control.set({ queue: base + end, paused: true })
      const others = jobs.filter((_, n) => n % 2 === 1).map(({ spec }) => spec.id)
      assert.deepEqual((await claim({ queues })).ids, others)
      for (const end of half) await store.control.set({ queue: base + end, paused: false })
      assert.equal((await claim({ queues })).ids.length, half.length)
    },
  },
  {
    // It stops everybody, so it is tried only on a store that this case has for itself.
    name: 'hold stops every claim, with nothing left behind, and all else goes on (0.12, 28)',
    needs: 'content',
    run: async (fixture) => {
      const { store, start, enqueueOne, claim, claimParams, settle, worker, name, unchanged } = fixture
      const { id: running, token, epoch } = await start()
      assert.deepEqual(await store.control.set({ hold: true }), { hold: true, paused: [] })
      const id = await enqueueOne()
      for (const solo of ['take', 'await', 'pass'] as const) {
        const reply = await unchanged([id], () => store.claims.claim(claimParams({ solo })))
        assert.deepEqual(reply, nothing)
      }
      assert.equal((await store.claims.renew({ worker, tokens: [token] })).held.length, 1)
      assert.equal((await store.claims.recover({ token, worker })).kind, 'recovered')
      assert.equal((await settle(running, epoch, succeeded)).settled, 'applied')
      const voided = name('token')
      assert.deepEqual(await store.claims.recover({ token: voided, worker }), { kind: 'voided' })
      assert.deepEqual(await store.claims.claim(claimParams({ token: voided })), { kind: 'void' })
      assert.deepEqual(await store.control.set({ hold: false }), { hold: false, paused: [] })
      assert.deepEqual((await claim()).ids, [id])
    },
  },
  {
    name: 'hold and pause are switched apart, and are part of what a snapshot keeps (0.12)',
    needs: 'content',
    run: async (fixture) => {
      const store = fixture.inspectable()
      const { queue } = fixture
      await paused(fixture)
      assert.deepEqual(await store.control.set({ hold: true }), { hold: true, paused: [queue] })
      await fixture.unchanged([], () => store.control.set({ hold: true }))
      const snapshot = await store.snapshot()
      assert.deepEqual((await store.dump()).control, { hold: true, paused: [queue] })
      assert.deepEqual(await store.control.set({ queue, paused: false }), { hold: true, paused: [] })
      assert.deepEqual(await store.control.set({ hold: false }), { hold: false, paused: [] })
      await store.restore(snapshot)
      assert.deepEqual(await store.control.get(), { hold: true, paused: [queue] })
      await store.reset()
      assert.deepEqual(await store.control.get(), { hold: false, paused: [] })
    },
  },
]
