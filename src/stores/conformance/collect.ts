import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { type Fixture, assertEnds, failure, shortMs, succeeded } from './fixture.ts'

const dayMs = 86_400_000

/** Collects until nothing is left to collect; on a shared store that may be more than ours. */
async function collectAll({ store }: Fixture, voidMs = 100 * 365 * dayMs): Promise<number> {
  let removed = 0
  for (let last = -1, calls = 0; last !== 0; calls++) {
    assertEnds(calls)
    last = (await store.claims.collect({ limit: 100, voidMs })).removed
    removed += last
  }
  return removed
}

/** Whether the header of a claim is still there. Where it is not, this leaves a void one. */
async function isThere({ store, worker }: Fixture, token: string): Promise<boolean> {
  return (await store.claims.recover({ token, worker })).kind === 'recovered'
}

export const collectCases: readonly Case[] = [
  {
    name: 'a claim whose jobs all ended is removed with its leases, and no job changes (0.10)',
    run: async (fixture) => {
      const ids = (await fixture.enqueue({}, { leaseTtlMs: 60_000 })) as [string, string]
      const { token } = await fixture.claim()
      await fixture.settle(ids[0], 1, succeeded)
      await fixture.settle(ids[1], 1, failure({ delayMs: 60_000 }))
      const before = await Promise.all(ids.map(fixture.get))
      assert.ok((await collectAll(fixture)) >= 1)
      assert.deepEqual(await Promise.all(ids.map(fixture.get)), before)
      if ('dump' in fixture.store) {
        const { claims, leases } = await fixture.inspectable().dump()
        assert.ok(![...claims, ...leases].some((row) => row.token === token))
      }
      assert.equal(await isThere(fixture, token), false)
    },
  },
  {
    name: 'a claim under which anything runs stays whole (0.10)',
    run: async (fixture) => {
      const [ended, running] = (await fixture.enqueue({}, { leaseTtlMs: 60_000 })) as [string, string]
      const { token } = await fixture.claim()
      await fixture.settle(ended, 1, succeeded)
      await collectAll(fixture)
      const { held } = await fixture.store.claims.renew({ worker: fixture.worker, tokens: [token] })
      assert.deepEqual(held, [{ id: running, epoch: 1, cancel: false }])
      assert.equal(await isThere(fixture, token), true)
    },
  },
  {
    name: 'a claim is spent once its jobs run under another token (0.10)',
    run: async (fixture) => {
      const { id, token } = await fixture.start()
      await fixture.settle(id, 1, failure())
      const next = await fixture.claim()
      await collectAll(fixture)
      assert.equal(await isThere(fixture, token), false)
      assert.equal(await isThere(fixture, next.token), true)
    },
  },
  {
    name: 'a claim whose jobs were all reclaimed is removed (0.10)',
    run: async (fixture) => {
      const { token } = await fixture.start({ leaseTtlMs: shortMs })
      await fixture.seen(shortMs)
      await fixture.reclaim()
      await collectAll(fixture)
      assert.equal(await isThere(fixture, token), false)
    },
  },
  {
    name: 'a lapsed lease that nobody has taken is no reason to remove its claim (0.2, 0.10)',
    run: async (fixture) => {
      const { id, token } = await fixture.start({ leaseTtlMs: shortMs })
      await fixture.pass(2 * shortMs)
      await collectAll(fixture)
      const { held } = await fixture.store.claims.renew({ worker: fixture.worker, tokens: [token] })
      assert.deepEqual(held, [{ id, epoch: 1, cancel: false }])
    },
  },
  {
    name: 'a void header stays for the whole time, and stops the late claim to its end (0.10)',
    needs: 'clock',
    run: async (fixture) => {
      const { store, worker, name, claimParams } = fixture
      const id = await fixture.enqueueOne()
      const token = name('token')
      await store.claims.recover({ token, worker })
      await fixture.advance(dayMs - 1)
      await collectAll(fixture, dayMs)
      assert.deepEqual(await store.claims.claim(claimParams({ token })), { kind: 'void' })
      await fixture.advance(1)
      assert.ok((await collectAll(fixture, dayMs)) >= 1)
      const late = await store.claims.claim(claimParams({ token }))
      assert.deepEqual(late.kind === 'claimed' && late.jobs.map(({ spec }) => spec.id), [id])
    },
  },
  {
    name: 'a void header does not age by being asked for again (0.10)',
    needs: 'clock',
    run: async (fixture) => {
      const token = fixture.name('token')
      await fixture.store.claims.recover({ token, worker: fixture.worker })
      await fixture.advance(dayMs - 1)
      await fixture.store.claims.recover({ token, worker: fixture.worker })
      await fixture.advance(1)
      assert.ok((await collectAll(fixture, dayMs)) >= 1)
      assert.equal((await fixture.claim({ token })).token, token)
    },
  },
  {
    name: 'the limit bounds what one call removes; nothing is nothing (0.9)',
    run: async (fixture) => {
      const { store, start, settle, unchanged } = fixture
      const tokens: string[] = []
      for (let n = 0; n < 3; n++) {
        const { id, token, epoch } = await start()
        await settle(id, epoch, succeeded)
        tokens.push(token)
      }
      const voidMs = 100 * 365 * dayMs
      for (const limit of [0, -1]) {
        const reply = await unchanged([], () => store.claims.collect({ limit, voidMs }))
        assert.deepEqual(reply, { removed: 0 })
      }
      assert.deepEqual(await store.claims.collect({ limit: 2, voidMs }), { removed: 2 })
      assert.ok((await collectAll(fixture)) >= 1)
      for (const token of tokens) assert.equal(await isThere(fixture, token), false)
    },
  },
]
