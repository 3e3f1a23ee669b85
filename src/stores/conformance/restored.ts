import assert from 'node:assert/strict'
import type { RestoredReply } from '../../engine/ports/store.ts'
import type { Case } from './case.ts'
import { type Fixture, assertChanged, failure, succeeded, unclaimed } from './fixture.ts'

/** Leaves the store as it was: what these cases do concerns all that is in it. */
function alone(run: (fixture: Fixture) => Promise<void>): Case['run'] {
  return async (fixture) => {
    const store = fixture.inspectable()
    const before = await store.snapshot()
    try {
      await run(fixture)
    } finally {
      await store.restore(before)
    }
  }
}

function restored(
  { store, name }: Fixture,
  command: string = name('command'),
  timelineMin = 0,
): Promise<RestoredReply> {
  return store.control.restored({ command, timelineMin })
}

const needs = ['clock', 'content'] as const
/** What a timeline is worth: no job is claimed so often. */
const epochsPerTimeline = 1_000_000

export const restoredCases: readonly Case[] = [
  {
    name: 'what ran goes back uncharged, with an event, and its claims are gone (28)',
    needs,
    run: alone(async (fixture) => {
      const { store, start, get, now, worker } = fixture
      const { id, token } = await start({ maxAttempts: 1, maxEvictions: 1 })
      const asked = await start()
      await store.jobs.requestCancel({ id: asked.id })
      const [before, beforeAsked] = [await get(id), await get(asked.id)]
      const { timeline, taken } = await restored(fixture)
      const epoch = timeline * epochsPerTimeline
      assert.deepEqual(taken, [
        { id, epoch, state: 'queued' },
        { id: asked.id, epoch, state: 'cancelled' },
      ])
      const updatedAtMs = await now()
      const back = { ...unclaimed, epoch, updatedAtMs }
      assertChanged(await get(id), before, { ...back, state: 'queued', visibleAtMs: updatedAtMs })
      const over = { state: 'cancelled', finishedAtMs: updatedAtMs } as const
      assertChanged(await get(asked.id), beforeAsked, { ...back, ...over })
      const { events } = await get(id)
      const event = { kind: 'restored', atMs: updatedAtMs, attempt: 1, epoch: before.epoch, error: null }
      assert.deepEqual(events.at(-1), event)
      const { claims, leases } = await fixture.inspectable().dump()
      assert.deepEqual([claims.filter((claim) => !claim.void), leases], [[], []])
      assert.deepEqual(await store.claims.renew({ worker, tokens: [token] }), { held: [] })
      assert.deepEqual(await store.claims.recover({ token, worker }), { kind: 'voided' })
    }),
  },
  {
    name: 'a claim that was made void stays so, and takes nothing when it comes late (0.10, 28)',
    needs,
    run: alone(async (fixture) => {
      const { store, worker, name, claimParams } = fixture
      const token = name('token')
      assert.deepEqual(await store.claims.recover({ token, worker }), { kind: 'voided' })
      const id = await fixture.enqueueOne()
      await restored(fixture)
      assert.deepEqual(await store.claims.claim(claimParams({ token })), { kind: 'void' })
      assert.equal((await fixture.get(id)).state, 'queued')
    }),
  },
  {
    name: 'no write of an attempt from before applies any more, and claims are beyond all that were (0.13, 28)',
    needs,
    run: alone(async (fixture) => {
      const { store, start, settle, unchanged, claim } = fixture
      const { id, epoch } = await start()
      const waiting = await start()
      await settle(waiting.id, waiting.epoch, failure())
      const delayed = await fixture.enqueueOne({ delayMs: 1_000 })
      const { timeline } = await restored(fixture)
      const first = timeline * epochsPerTimeline
      // Even those that were given out in the time that was lost.
      for (const lost of [epoch, epoch + 1, epoch + 7]) {
        const at = { id, epoch: lost }
        const { settled } = await unchanged([id], () => settle(id, lost, succeeded))
        assert.equal(settled, 'lost')
        const note = await store.jobs.checkpoint({ ...at, key: 'k', value: '1' })
        assert.deepEqual(note, { applied: false })
        assert.deepEqual(await store.jobs.progress({ ...at, percent: 1, phase: null }), { applied: false })
      }
      await fixture.advance(1_000)
      const { jobs } = await claim()
      assert.deepEqual(jobs.map(({ spec }) => spec.id).sort(), [id, waiting.id, delayed].sort())
      for (const job of jobs) assert.equal(job.epoch, first + 1)
      assert.equal((await settle(id, first + 1, succeeded)).settled, 'applied')
    }),
  },
  {
    name: 'what waits keeps its place; what has ended leaps when it is started anew; a new job begins there (28)',
    needs,
    run: alone(async (fixture) => {
      const { store, start, settle, get, now } = fixture
      const dead = await start()
      await settle(dead.id, dead.epoch, failure({ permanent: true }))
      const ids = await fixture.enqueue({ band: 0, delayMs: 50 }, { undispatched: true })
      const before = await Promise.all([...ids, dead.id].map(get))
      await fixture.advance(10)
      const { timeline } = await restored(fixture)
      const epoch = timeline * epochsPerTimeline
      const updatedAtMs = await now()
      for (const [k, id] of ids.entries()) {
        assert.deepEqual(await get(id), {
          ...before[k],
          epoch,
          updatedAtMs,
          version: (before[k]?.version ?? 0) + 1,
        })
      }
      assert.deepEqual(await get(dead.id), before[2])
      const { version } = await get(dead.id)
      await store.jobs.retry({ id: dead.id, version, command: fixture.name('command') })
      assert.equal((await get(dead.id)).epoch, epoch)
      assert.equal((await get(await fixture.enqueueOne())).epoch, epoch)
    }),
  },
  {
    name: 'hold is lifted, paused queues stay so; a repeat is known by its command, another begins one more (28)',
    needs,
    run: alone(async (fixture) => {
      const { store, start, queue, unchanged, name } = fixture
      await store.control.set({ hold: true })
      await store.control.set({ queue, paused: true })
      const command = name('command')
      const first = await restored(fixture, command)
      assert.equal(first.control.hold, false)
      assert.ok(first.control.paused.includes(queue))
      await store.control.set({ queue, paused: false })
      const { id } = await start()
      const again = await unchanged([id], () => restored(fixture, command))
      assert.deepEqual([again.timeline, again.taken], [first.timeline, []])
      const next = await restored(fixture)
      assert.equal(next.timeline, first.timeline + 1)
      assert.deepEqual(next.taken, [{ id, epoch: next.timeline * epochsPerTimeline, state: 'queued' }])
      assert.equal((await fixture.inspectable().dump()).timeline, next.timeline)
    }),
  },
  {
    name: 'the timeline is at least what the caller says, however often the same backup is restored (0.13, 28)',
    needs,
    run: alone(async (fixture) => {
      const store = fixture.inspectable()
      const backup = await store.snapshot()
      const seconds = 1_760_000_000
      for (const timelineMin of [seconds, seconds + 1]) {
        await store.restore(backup)
        const { timeline } = await restored(fixture, fixture.name('command'), timelineMin)
        assert.equal(timeline, timelineMin)
        const { id, epoch } = await fixture.start()
        assert.equal(epoch, timelineMin * epochsPerTimeline + 1)
        await store.logs.append({ id, epoch, lines: [{ line: 0, level: 'info', text: 'said' }] })
        assert.equal((await fixture.settle(id, epoch, failure())).settled, 'applied')
        assert.equal((await fixture.get(id)).lastSettle?.epoch, epoch)
      }
      assert.equal((await restored(fixture, fixture.name('command'), seconds)).timeline, seconds + 2)
    }),
  },
]
