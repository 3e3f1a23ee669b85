import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import type { WatchMoveReply } from '../../engine/ports/store.ts'
import { assertWithin, succeeded } from './fixture.ts'

/** Whether anything is silent in a store that others may use is not for each of these cases to say. */
function assertMoved({ silent, ...moved }: WatchMoveReply, expected: Omit<WatchMoveReply, 'silent'>): void {
  assert.equal(typeof silent, 'boolean')
  assert.deepEqual(moved, expected)
}

const ttlMs = 30_000

export const watchCases: readonly Case[] = [
  {
    name: 'the first to declare a sweep period decides it for all (0.3)',
    run: async ({ store, now }) => {
      const fromMs = await now()
      const first = await store.watch.declare({ sweepMs: 5_000 })
      assertWithin(first.nowMs, fromMs, await now())
      for (const sweepMs of [first.sweepMs + 1, 1, 3_600_000]) {
        assert.equal((await store.watch.declare({ sweepMs })).sweepMs, first.sweepMs)
      }
    },
  },
  {
    name: 'of eight that declare at once, all hear the same (0.3)',
    run: async ({ store }) => {
      const race = Array.from({ length: 8 }, (_, n) => store.watch.declare({ sweepMs: 5_000 + n }))
      const answers = new Set((await Promise.all(race)).map(({ sweepMs }) => sweepMs))
      assert.equal(answers.size, 1)
    },
  },
  {
    name: 'moves in time keep the store in sight from where it began (0.20)',
    needs: 'clock',
    run: async ({ sweepMs, move, advance, now }) => {
      const stepMs = await sweepMs()
      await advance(3 * stepMs)
      const sinceMs = await now()
      assertMoved(await move(), { kind: 'restarted', nowMs: sinceMs, seenSinceMs: sinceMs })
      for (const ms of [stepMs, 2 * stepMs, 0, 1]) {
        await advance(ms)
        assertMoved(await move(), { kind: 'moved', nowMs: await now(), seenSinceMs: sinceMs })
      }
    },
  },
  {
    name: 'a gap of more than two sweeps restarts it (0.20)',
    needs: 'clock',
    run: async ({ sweepMs, move, advance, now }) => {
      await move()
      await advance(2 * (await sweepMs()) + 1)
      const nowMs = await now()
      assertMoved(await move(), { kind: 'restarted', nowMs, seenSinceMs: nowMs })
    },
  },
  {
    name: 'movers that overtake one another by up to a second do not restart it, nor set it back (0.20)',
    needs: 'clock',
    run: async ({ sweepMs, move, advance }) => {
      const stepMs = await sweepMs()
      await advance(3 * stepMs)
      const { seenSinceMs } = await move()
      await advance(2_000)
      await move()
      await advance(-1_000)
      assert.deepEqual(await move().then(({ kind, seenSinceMs: at }) => [kind, at]), ['moved', seenSinceMs])
      // Had the late mover set it back by a second, this gap would be too long.
      await advance(1_000 + 2 * stepMs)
      assert.deepEqual(await move().then(({ kind, seenSinceMs: at }) => [kind, at]), ['moved', seenSinceMs])
    },
  },
  {
    name: 'a watch that lies more than a second ahead restarts: the clock went back (0.20)',
    needs: 'clock',
    run: async ({ sweepMs, move, advance, now }) => {
      await sweepMs()
      await move()
      await advance(-1_001)
      const nowMs = await now()
      assertMoved(await move(), { kind: 'restarted', nowMs, seenSinceMs: nowMs })
      await advance(1)
      assertMoved(await move(), { kind: 'moved', nowMs: nowMs + 1, seenSinceMs: nowMs })
    },
  },
  {
    name: 'a move says from its expiry on that a lease is silent, until it is taken, to the millisecond (0.20)',
    needs: 'clock',
    run: async ({ seen, reclaim, start, advance, move }) => {
      await seen(ttlMs)
      await reclaim()
      const { id } = await start()
      assert.equal((await move()).silent, false)
      await seen(ttlMs - 1)
      assert.equal((await move()).silent, false)
      await advance(1)
      assert.equal((await move()).silent, true)
      assert.deepEqual(
        (await reclaim()).map((job) => job.id),
        [id],
      )
      assert.equal((await move()).silent, false)
    },
  },
  {
    name: 'it says so too where the watch holds the lease back, where it is refused, and of a lease that nobody needs (0.20)',
    needs: 'clock',
    run: async ({ store, seen, reclaim, start, settle, advance, now, move }) => {
      await seen(ttlMs)
      await reclaim()
      const { id, epoch } = await start()
      await settle(id, epoch, succeeded)
      await advance(10 * ttlMs)
      const late = { lastReplyMs: (await now()) - 5_001, sinceReplyMs: 0, maxAgeMs: 5_000 }
      const { kind, silent } = await store.watch.move(late)
      assert.deepEqual([kind, silent], ['refused', true])
      assert.equal((await move()).silent, true)
      await seen(ttlMs)
      assert.deepEqual(await reclaim(), [])
      assert.equal((await move()).silent, false)
    },
  },
  {
    name: 'a move that was sent too long ago is refused and changes nothing (0.20)',
    run: async ({ store, sweepMs, move, now, unchanged }) => {
      await sweepMs()
      const { seenSinceMs } = await move()
      const lastReplyMs = (await now()) - 600_000
      const { kind, seenSinceMs: sinceMs } = await unchanged([], () =>
        store.watch.move({ lastReplyMs, sinceReplyMs: 0, maxAgeMs: 5_000 }),
      )
      assert.equal(kind, 'refused')
      assert.ok(sinceMs >= seenSinceMs)
    },
  },
  {
    name: 'its age counts from its sending, by the elapsed time of its sender, to the millisecond (0.20)',
    needs: 'clock',
    run: async ({ store, sweepMs, move, now, advance, unchanged }) => {
      await sweepMs()
      await move()
      const lastReplyMs = await now()
      const sent = { lastReplyMs, sinceReplyMs: 700, maxAgeMs: 5_000 }
      await advance(5_701)
      assert.equal((await unchanged([], () => store.watch.move(sent))).kind, 'refused')
      await advance(-1)
      assert.equal((await store.watch.move(sent)).kind, 'moved')
    },
  },
  {
    name: 'a move whose sender knows of a clock that went back by more than a second restarts the watch (0.20)',
    needs: 'clock',
    run: async ({ store, sweepMs, move, now, advance }) => {
      await sweepMs()
      await move()
      const sent = { lastReplyMs: await now(), sinceReplyMs: 700, maxAgeMs: 5_000 }
      await advance(-300)
      assert.equal((await store.watch.move(sent)).kind, 'moved')
      await advance(-1)
      const { kind, seenSinceMs } = await store.watch.move(sent)
      assert.deepEqual([kind, seenSinceMs], ['restarted', await now()])
    },
  },
  {
    name: 'a fresh watch is moved only by who was answered since it began; one that is not, is restarted by anyone (0.20)',
    needs: 'clock',
    run: async ({ store, sweepMs, move, now, advance, unchanged }) => {
      await sweepMs()
      const heardMs = await now()
      await advance(1)
      await move()
      const sent = { lastReplyMs: heardMs, sinceReplyMs: 0, maxAgeMs: 600_000 }
      assert.equal((await unchanged([], () => store.watch.move(sent))).kind, 'refused')
      assert.equal((await store.watch.move({ ...sent, lastReplyMs: heardMs + 1 })).kind, 'moved')
      await advance(60_000)
      assert.equal((await store.watch.move(sent)).kind, 'restarted')
    },
  },
  {
    name: 'before a sweep period is declared there is no watch to move (0.20)',
    needs: 'content',
    run: async ({ store, inspectable, move }) => {
      await inspectable().reset()
      assert.equal((await move()).kind, 'refused')
      assert.deepEqual((await inspectable().dump()).watch, null)
      assert.equal((await store.watch.declare({ sweepMs: 7_000 })).sweepMs, 7_000)
      assert.equal((await move()).kind, 'restarted')
    },
  },
  {
    name: 'the watch is a row that can be read (0.20)',
    needs: 'content',
    run: async ({ inspectable, store, move, unchanged }) => {
      await inspectable().reset()
      await store.watch.declare({ sweepMs: 5_000 })
      const declared = { sweepMs: 5_000, seenSinceMs: null, seenAtMs: null }
      assert.deepEqual((await inspectable().dump()).watch, declared)
      await unchanged([], () => store.watch.declare({ sweepMs: 6_000 }))
      const { nowMs } = await move()
      const moved = { sweepMs: 5_000, seenSinceMs: nowMs, seenAtMs: nowMs }
      assert.deepEqual((await inspectable().dump()).watch, moved)
    },
  },
]
