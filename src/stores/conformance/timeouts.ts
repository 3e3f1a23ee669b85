import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { type Fixture, assertChanged, assertEnds, succeeded, unclaimed } from './fixture.ts'

const leaseTtlMs = 30_000
const timeoutMs = 20_000
const boundMs = timeoutMs + leaseTtlMs

/** The attempt of a worker that renews, and does not enforce its timeout. */
async function overrun(fixture: Fixture, token: string, ms: number): Promise<void> {
  const { seen, store, worker } = fixture
  for (let leftMs = ms; leftMs > 0; leftMs -= 10_000) {
    await seen(Math.min(10_000, leftMs))
    await store.claims.renew({ worker, tokens: [token] })
  }
}

async function expire({ store }: Fixture, limit = 100): Promise<string[]> {
  return (await store.jobs.expireTimeouts({ limit })).jobs.map(({ id }) => id)
}

export const timeoutCases: readonly Case[] = [
  {
    name: 'an attempt is ended at timeout + lease TTL after its claim, not a millisecond before (0.6)',
    needs: 'clock',
    run: async (fixture) => {
      const { id, token } = await fixture.start({ timeoutMs })
      await overrun(fixture, token, boundMs - 1)
      assert.deepEqual(await fixture.unchanged([id], () => expire(fixture)), [])
      await fixture.seen(1)
      assert.deepEqual(await expire(fixture), [id])
    },
  },
  {
    name: 'it is charged one failure and returns after the backoff, with a new epoch (0.4, 0.6)',
    needs: 'clock',
    run: async (fixture) => {
      const { id, token } = await fixture.start({ timeoutMs, backoffMs: [4_000, 6_000] })
      await overrun(fixture, token, boundMs)
      const before = await fixture.get(id)
      const reply = await fixture.store.jobs.expireTimeouts({ limit: 10 })
      assert.deepEqual(reply, { jobs: [{ id, epoch: 2, failures: 1, state: 'queued' }] })
      const updatedAtMs = await fixture.now()
      const error = { code: 'TIMEOUT', message: 'attempt exceeded 20000 ms' }
      const back = {
        state: 'queued',
        epoch: 2,
        failures: 1,
        error,
        visibleAtMs: updatedAtMs + 4_000,
      } as const
      assertChanged(await fixture.get(id), before, { ...unclaimed, ...back, updatedAtMs })
    },
  },
  {
    name: 'the second timeout waits as long as the second entry says (0.6)',
    needs: 'clock',
    run: async (fixture) => {
      const { id, token } = await fixture.start({ timeoutMs, backoffMs: [0, 6_000] })
      await overrun(fixture, token, boundMs)
      await expire(fixture)
      const again = await fixture.claim()
      await overrun(fixture, again.token, boundMs)
      assert.deepEqual(await expire(fixture), [id])
      const { visibleAtMs, updatedAtMs, failures, evictions } = await fixture.get(id)
      assert.deepEqual([(visibleAtMs ?? 0) - updatedAtMs, failures, evictions], [6_000, 2, 0])
    },
  },
  {
    name: 'the last failure dead-letters (0.5, 0.6)',
    needs: 'clock',
    run: async (fixture) => {
      const { id, token } = await fixture.start({ timeoutMs, maxAttempts: 1 })
      await overrun(fixture, token, boundMs)
      const before = await fixture.get(id)
      const reply = await fixture.store.jobs.expireTimeouts({ limit: 10 })
      assert.deepEqual(reply, { jobs: [{ id, epoch: 2, failures: 1, state: 'failed' }] })
      const atMs = await fixture.now()
      const error = { code: 'TIMEOUT', message: 'attempt exceeded 20000 ms' }
      const end = { state: 'failed', epoch: 2, failures: 1, error } as const
      const stamps = { updatedAtMs: atMs, finishedAtMs: atMs }
      assertChanged(await fixture.get(id), before, { ...unclaimed, ...end, ...stamps })
    },
  },
  {
    name: 'the holder that comes late is fenced off; others under its token go on (0.10, 0.13)',
    needs: 'clock',
    run: async (fixture) => {
      const { store, worker, unchanged, settle } = fixture
      const [late, other] = (await fixture.enqueue({ timeoutMs }, { timeoutMs: 600_000 })) as [string, string]
      const { token } = await fixture.claim()
      await overrun(fixture, token, boundMs)
      assert.deepEqual(await expire(fixture), [late])
      const reply = await unchanged([late], () => settle(late, 1, succeeded))
      assert.deepEqual(reply, { settled: 'lost', state: 'queued' })
      const { held } = await store.claims.renew({ worker, tokens: [token] })
      assert.deepEqual(held, [{ id: other, epoch: 1, cancel: false }])
    },
  },
  {
    name: 'a jump of the clock charges nobody: the bound must have been watched whole (0.6, 0.20)',
    needs: 'clock',
    run: async (fixture) => {
      await fixture.seen(2 * boundMs)
      const { id, token } = await fixture.start({ timeoutMs })
      const { store, worker } = fixture
      await fixture.advance(86_400_000)
      const { held } = await store.claims.renew({ worker, tokens: [token] })
      assert.equal(held.length, 1)
      assert.deepEqual(await fixture.unchanged([id], () => expire(fixture)), [])
      await overrun(fixture, token, boundMs - 1)
      assert.deepEqual(await fixture.unchanged([id], () => expire(fixture)), [])
      await fixture.seen(1)
      assert.deepEqual(await expire(fixture), [id])
    },
  },
  {
    name: 'nothing is ended while nobody watches (0.20)',
    needs: 'clock',
    run: async (fixture) => {
      const { id, token } = await fixture.start({ timeoutMs })
      await overrun(fixture, token, boundMs)
      await fixture.advance(2 * (await fixture.sweepMs()) + 1)
      assert.deepEqual(await fixture.unchanged([id], () => expire(fixture)), [])
    },
  },
  {
    name: 'the longest running comes first, the limit counts jobs, and nothing is nothing (0.8, 0.9)',
    needs: 'clock',
    run: async (fixture) => {
      const tokens: string[] = []
      const order: string[] = []
      for (let n = 0; n < 3; n++) {
        const { id, token } = await fixture.start({ timeoutMs, backoffMs: [86_400_000] })
        tokens.push(token)
        order.push(id)
        await fixture.advance(10)
      }
      await fixture.seen(boundMs)
      for (const limit of [0, -1]) assert.deepEqual(await expire(fixture, limit), [])
      const own = (ids: string[]): string[] => ids.filter((id) => order.includes(id))
      const taken: string[] = []
      for (let more = true, calls = 0; more; calls++) {
        assertEnds(calls)
        const batch = await expire(fixture, 1)
        assert.ok(batch.length <= 1)
        taken.push(...own(batch))
        more = batch.length > 0
      }
      assert.deepEqual(taken, order)
      const { held } = await fixture.store.claims.renew({ worker: fixture.worker, tokens })
      assert.deepEqual(held, [])
    },
  },
  {
    name: 'queued and ended jobs have no timeout, however old (0.6)',
    needs: 'clock',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start({ timeoutMs })
      await fixture.settle(id, epoch, succeeded)
      const queued = await fixture.enqueueOne({ timeoutMs })
      await fixture.seen(2 * boundMs)
      assert.deepEqual(await fixture.unchanged([id, queued], () => expire(fixture)), [])
    },
  },
]
