import assert from 'node:assert/strict'
import type { Reclaimed } from '../../engine/ports/store.ts'
import type { Case } from './case.ts'
import { type Fixture, assertChanged, assertEnds, shortMs, succeeded, unclaimed } from './fixture.ts'

const silentMs = 900_000

/** Adopts until nothing is left; answers those of these jobs that were adopted, in their order. */
async function adopted(
  { store }: Fixture,
  ids: readonly string[],
  params: { readonly limit?: number; readonly silentMs?: number } = {},
): Promise<Reclaimed[]> {
  const own: Reclaimed[] = []
  for (let last = -1, calls = 0; last !== 0; calls++) {
    assertEnds(calls)
    const { jobs } = await store.jobs.adopt({ limit: 100, silentMs, ...params })
    own.push(...jobs.filter(({ id }) => ids.includes(id)))
    last = jobs.length
  }
  return own
}

/** The store is seen for `ms`, and the worker renews these claims all the time. */
async function renewed(
  { seen, store, worker }: Fixture,
  tokens: readonly string[],
  ms: number,
): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= 20_000) {
    await seen(Math.min(20_000, leftMs))
    await store.claims.renew({ worker, tokens })
  }
}

export const adoptCases: readonly Case[] = [
  {
    name: 'a running job without a lease is taken back when its claim is as old as was said, not before (4.5, 27.7)',
    needs: ['clock', 'unlease'],
    run: async (fixture) => {
      const { id, token, epoch } = await fixture.start({ backoffMs: [4_000, 6_000] })
      await fixture.unlease(token)
      await fixture.seen(silentMs - 1)
      assert.deepEqual(await fixture.unchanged([id], () => adopted(fixture, [id])), [])
      await fixture.seen(1)
      const before = await fixture.get(id)
      assert.deepEqual(await adopted(fixture, [id]), [
        { id, epoch: epoch + 1, evictions: 1, state: 'queued' },
      ])
      const updatedAtMs = await fixture.now()
      const error = { code: 'LEASE_LOST', message: 'lease lost x1' }
      const back = { state: 'queued', epoch: epoch + 1, evictions: 1, error } as const
      const visibleAtMs = updatedAtMs + 4_000
      assertChanged(await fixture.get(id), before, { ...unclaimed, ...back, visibleAtMs, updatedAtMs })
    },
  },
  {
    name: 'a job whose lease is there is left alone, however old and whether or not it lapsed (27.8)',
    needs: 'clock',
    run: async (fixture) => {
      const renewing = await fixture.start()
      const silent = await fixture.start()
      await renewed(fixture, [renewing.token], 2 * silentMs)
      const ids = [renewing.id, silent.id]
      assert.deepEqual(await fixture.unchanged(ids, () => adopted(fixture, ids)), [])
    },
  },
  {
    name: 'only the jobs of the lease row that is gone are taken, not the others of their claim (4.5)',
    needs: ['clock', 'unlease'],
    run: async (fixture) => {
      const [short, long] = (await fixture.enqueue({ leaseTtlMs: 20_000 }, { leaseTtlMs: 60_000 })) as [
        string,
        string,
      ]
      await fixture.claim()
      await fixture.seen(20_000)
      // The row of the short one is gone by a reclaim, which took its job along.
      assert.deepEqual(
        (await fixture.reclaim()).map(({ id }) => id),
        [short],
      )
      const again = await fixture.claim()
      assert.deepEqual(again.ids, [short])
      await renewed(fixture, [again.token], silentMs)
      const ids = [short, long]
      assert.deepEqual(await fixture.unchanged(ids, () => adopted(fixture, ids)), [])
      await fixture.unlease(again.token)
      assert.deepEqual(
        (await adopted(fixture, ids)).map(({ id }) => id),
        [short],
      )
    },
  },
  {
    name: 'nothing is taken unless the store was seen for as long, without a gap (0.20)',
    needs: ['clock', 'unlease'],
    run: async (fixture) => {
      const { id, token } = await fixture.start()
      await fixture.unlease(token)
      await fixture.advance(2 * silentMs)
      assert.deepEqual(await fixture.unchanged([id], () => adopted(fixture, [id])), [])
      await fixture.seen(silentMs - 1)
      assert.deepEqual(await fixture.unchanged([id], () => adopted(fixture, [id])), [])
      await fixture.seen(1)
      assert.equal((await adopted(fixture, [id])).length, 1)
    },
  },
  {
    name: 'the last eviction dead-letters; a cancel that was asked for ends the job (0.5, 4.13)',
    needs: ['clock', 'unlease'],
    run: async (fixture) => {
      const fragile = await fixture.start({ maxEvictions: 1 })
      const unwanted = await fixture.start()
      await fixture.store.jobs.requestCancel({ id: unwanted.id })
      for (const { token } of [fragile, unwanted]) await fixture.unlease(token)
      await fixture.seen(silentMs)
      assert.deepEqual(
        (await adopted(fixture, [fragile.id, unwanted.id])).map(({ id, state }) => [id, state]),
        [
          [fragile.id, 'failed'],
          [unwanted.id, 'cancelled'],
        ],
      )
    },
  },
  {
    name: 'the oldest claim comes first, then the first inserted; the limit counts jobs (4.8)',
    needs: ['clock', 'unlease'],
    run: async (fixture) => {
      const { enqueue, claim, advance, unlease, seen } = fixture
      const later = await enqueue({ band: 3 }, { band: 0 })
      const first = await enqueue({ kind: fixture.name('kind') })
      const kinds = [(await fixture.get(first[0] as string)).spec.kind]
      const tokens = [(await claim({ kinds })).token]
      await advance(1)
      tokens.push((await claim()).token)
      for (const token of tokens) await unlease(token)
      await seen(silentMs)
      const ids = [...first, ...later]
      assert.deepEqual(
        (await adopted(fixture, ids, { limit: 1 })).map(({ id }) => id),
        ids,
      )
    },
  },
  {
    name: 'no limit is no work: nothing is taken, whatever there is (0.9, 4.4)',
    needs: 'unlease',
    run: async (fixture) => {
      await fixture.move()
      const { id, token } = await fixture.start()
      await fixture.unlease(token)
      await fixture.seen(shortMs)
      for (const limit of [0, -1]) {
        const params = { limit, silentMs: shortMs }
        assert.deepEqual(await fixture.unchanged([id], () => adopted(fixture, [id], params)), [])
      }
      assert.equal((await adopted(fixture, [id], { limit: 1, silentMs: shortMs })).length, 1)
    },
  },
  {
    name: 'of two adopters at once each job goes to one; what its holder settles later is lost (0.13)',
    needs: 'unlease',
    run: async (fixture) => {
      await fixture.move()
      const ids = await fixture.enqueue(...Array.from({ length: 10 }, () => ({})))
      const { token } = await fixture.claim()
      await fixture.unlease(token)
      await fixture.seen(shortMs)
      const params = { limit: 2, silentMs: shortMs }
      const race = await Promise.all([adopted(fixture, ids, params), adopted(fixture, ids, params)])
      assert.deepEqual(
        race
          .flat()
          .map(({ id }) => id)
          .sort(),
        [...ids].sort(),
      )
      const [id] = ids as [string]
      const reply = await fixture.unchanged([id], () => fixture.settle(id, 1, succeeded))
      assert.deepEqual(reply, { settled: 'lost', state: 'queued' })
      const { held } = await fixture.store.claims.renew({ worker: fixture.worker, tokens: [token] })
      assert.deepEqual(held, [])
    },
  },
]
