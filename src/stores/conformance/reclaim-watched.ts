import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { type Fixture, assertEnds } from './fixture.ts'

const ttlMs = 30_000

/** Expects that nothing can be taken, and that the store says so. */
async function assertHeldBack({ store, unchanged }: Fixture, ids: readonly string[]): Promise<void> {
  const { jobs, heldBack, full } = await unchanged(ids, () => store.jobs.reclaim({ limit: 100 }))
  assert.deepEqual({ jobs, full }, { jobs: [], full: false })
  assert.ok(heldBack >= 1, 'an expired lease that the watch holds back is counted')
}

export const watchedReclaimCases: readonly Case[] = [
  {
    name: 'a lease is expired at its expiry, not a millisecond before (0.2, 0.20)',
    needs: 'clock',
    run: async ({ start, seen, reclaim, unchanged }) => {
      const { id } = await start()
      await seen(ttlMs - 1)
      assert.deepEqual(await unchanged([id], reclaim), [])
      await seen(1)
      assert.deepEqual(
        (await reclaim()).map((job) => job.id),
        [id],
      )
    },
  },
  {
    name: 'nothing is taken while nobody watches (0.20)',
    needs: 'clock',
    run: async (fixture) => {
      const { id } = await fixture.start()
      await fixture.advance(100 * ttlMs)
      await assertHeldBack(fixture, [id])
    },
  },
  {
    name: 'after an outage a whole TTL of undisturbed sight must pass (0.20, 27.51, E13)',
    needs: 'clock',
    run: async (fixture) => {
      await fixture.seen(3 * ttlMs)
      const { id } = await fixture.start()
      await fixture.advance(10 * ttlMs)
      await assertHeldBack(fixture, [id])
      await fixture.seen(ttlMs - 1)
      await assertHeldBack(fixture, [id])
      await fixture.seen(1)
      assert.deepEqual(
        (await fixture.reclaim()).map((job) => job.id),
        [id],
      )
    },
  },
  {
    name: 'the grace is that of each lease, by its own TTL (0.20)',
    needs: 'clock',
    run: async ({ enqueue, claim, advance, seen, reclaim }) => {
      const [short, long] = await enqueue({ leaseTtlMs: 20_000 }, { leaseTtlMs: 60_000 })
      await claim()
      await advance(3_600_000)
      await seen(20_000)
      assert.deepEqual(
        (await reclaim()).map(({ id }) => id),
        [short],
      )
      await seen(39_999)
      assert.deepEqual(await reclaim(), [])
      await seen(1)
      assert.deepEqual(
        (await reclaim()).map(({ id }) => id),
        [long],
      )
    },
  },
  {
    name: 'a watch is fresh for two sweeps, to the millisecond (0.20)',
    needs: 'clock',
    run: async (fixture) => {
      const sweepMs = await fixture.sweepMs()
      const [a] = [await fixture.start()]
      await fixture.seen(ttlMs)
      await fixture.advance(2 * sweepMs + 1)
      await assertHeldBack(fixture, [a.id])
      await fixture.advance(-1)
      assert.deepEqual(
        (await fixture.reclaim()).map(({ id }) => id),
        [a.id],
      )
    },
  },
  {
    name: 'a gap of more than two sweeps starts the grace anew, however often (0.20)',
    needs: 'clock',
    run: async (fixture) => {
      const sweepMs = await fixture.sweepMs()
      const { id } = await fixture.start()
      for (let outage = 0; outage < 3; outage++) {
        await fixture.seen(ttlMs - 1)
        await fixture.advance(2 * sweepMs + 1)
        assert.equal((await fixture.move()).kind, 'restarted')
        await assertHeldBack(fixture, [id])
      }
      await fixture.seen(ttlMs)
      assert.equal((await fixture.reclaim()).length, 1)
    },
  },
  {
    name: 'a move that was refused as late opens nothing (0.20)',
    needs: 'clock',
    run: async (fixture) => {
      const { id } = await fixture.start()
      await fixture.seen(ttlMs)
      const lastReplyMs = await fixture.now()
      await fixture.advance(2 * (await fixture.sweepMs()) + 1)
      const { kind } = await fixture.store.watch.move({ lastReplyMs, sinceReplyMs: 0, maxAgeMs: 5_000 })
      assert.equal(kind, 'refused')
      await assertHeldBack(fixture, [id])
    },
  },
  {
    name: 'a watch from the future, after the clock went back, opens nothing beyond one second (0.20)',
    needs: 'clock',
    run: async (fixture) => {
      const { id } = await fixture.start()
      await fixture.seen(ttlMs + 2_000)
      await fixture.advance(-1_001)
      await assertHeldBack(fixture, [id])
      await fixture.advance(1)
      assert.deepEqual(
        (await fixture.reclaim()).map((job) => job.id),
        [id],
      )
    },
  },
  {
    name: 'after the clock went back by a day a lease is silent, and its grace is a whole TTL (0.20)',
    needs: 'clock',
    run: async (fixture) => {
      await fixture.advance(1)
      const { id } = await fixture.start()
      await fixture.advance(-86_400_000)
      await assertHeldBack(fixture, [id])
      await fixture.seen(ttlMs - 1)
      await assertHeldBack(fixture, [id])
      await fixture.seen(1)
      assert.deepEqual(
        (await fixture.reclaim()).map((job) => job.id),
        [id],
      )
    },
  },
  {
    name: 'a lease that ends beyond a TTL, two sweeps and a second is silent: the clock went back (0.20)',
    needs: 'clock',
    run: async (fixture) => {
      const { start, advance, sweepMs, move } = fixture
      const mostMs = 2 * (await sweepMs()) + 1_000
      const { id } = await start()
      await advance(-mostMs - 1)
      await move()
      await assertHeldBack(fixture, [id])
      await advance(1)
      const { jobs, heldBack } = await fixture.store.jobs.reclaim({ limit: 100 })
      assert.deepEqual([jobs, heldBack], [[], 0])
    },
  },
  {
    name: 'one that ends within them is alive, for the watch may have missed that jump (0.20, decision 0009)',
    needs: 'clock',
    run: async ({ store, start, seen, advance, move, sweepMs, worker, reclaim }) => {
      const stepMs = await sweepMs()
      await seen(2 * ttlMs)
      // The clock is set back just before the next move, which is late: the watch looks fresh.
      await advance(2 * stepMs)
      const { id, token, epoch } = await start()
      await advance(-2 * stepMs - 1_000)
      assert.equal((await move()).kind, 'moved')
      const { jobs, heldBack } = await store.jobs.reclaim({ limit: 100 })
      assert.deepEqual([jobs, heldBack], [[], 0])
      const { held } = await store.claims.renew({ worker, tokens: [token] })
      assert.deepEqual(held, [{ id, epoch, cancel: false }])
      await seen(ttlMs)
      assert.deepEqual(
        (await reclaim()).map((job) => job.id),
        [id],
      )
    },
  },
  {
    name: 'the longest expired comes first; the limit counts lease rows; full says that there is more (0.8)',
    needs: 'clock',
    run: async ({ store, enqueue, claim, seen, advance, kind, name }) => {
      const kinds = [name('kind'), name('kind'), name('kind'), kind]
      const leaseTtlMs = [9_000, 4_000, 7_000, 5_000]
      const pairs: string[][] = []
      for (const [n, kind] of kinds.entries()) {
        const leased = { kind, leaseTtlMs: leaseTtlMs[n] as number }
        pairs.push(await enqueue(leased, leased))
        await claim({ kinds: [kind] })
        await advance(500)
      }
      await seen(60_000)
      // Expiries: 9,000, 4,500, 8,000 and 6,500 after the first claim.
      const replies: unknown[] = []
      for (let full = true, calls = 0; full; calls++) {
        assertEnds(calls)
        const reply = await store.jobs.reclaim({ limit: 1 })
        full = reply.full
        const mine = reply.jobs.map(({ id }) => id).filter((id) => pairs.flat().includes(id))
        if (mine.length > 0) replies.push([mine, full])
      }
      assert.deepEqual(replies, [
        [pairs[1], true],
        [pairs[3], true],
        [pairs[2], true],
        [pairs[0], false],
      ])
    },
  },
]
