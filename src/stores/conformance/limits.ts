import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { failure, shortMs } from './fixture.ts'

const centuryMs = 100 * 365 * 86_400_000
/** The first and the last instant that a `Date` can name. */
const lastMs = 8_640_000_000_000_000

export const limitCases: readonly Case[] = [
  {
    name: 'every field of what the producer stated comes back as it was (1.14, 27.4)',
    run: async ({ store, newJob, name, get, claim }) => {
      const job = newJob({
        band: 0,
        input: '{"x":[1]}',
        inputVersion: 2_147_483_647,
        maxAttempts: 1_000_000,
        maxEvictions: 1_000_000,
        backoffMs: Array.from({ length: 32 }, (_, n) => n * centuryMs),
        jitter: true,
        leaseTtlMs: centuryMs,
        timeoutMs: centuryMs - 1,
        enqueuedAtMs: lastMs,
      })
      await store.jobs.insert({ insertId: name('insert'), jobs: [job] })
      assert.deepEqual((await get(job.spec.id)).spec, job.spec)
      assert.deepEqual((await claim()).jobs[0]?.spec, job.spec)
    },
  },
  {
    name: 'delays of a century: at enqueue, at a return and after an eviction (0.6, E16)',
    run: async ({ enqueue, start, settle, seen, reclaim, get, claim }) => {
      const [delayed] = (await enqueue({ delayMs: centuryMs })) as [string]
      const { id, epoch } = await start()
      await settle(id, epoch, failure({ delayMs: centuryMs }))
      const evicted = await start({ leaseTtlMs: shortMs, backoffMs: [centuryMs] })
      await seen(shortMs)
      assert.equal((await reclaim()).length, 1)
      for (const each of [delayed, id, evicted.id]) {
        const { visibleAtMs, updatedAtMs } = await get(each)
        assert.equal(visibleAtMs, updatedAtMs + centuryMs)
      }
      assert.deepEqual((await claim()).ids, [])
    },
  },
  {
    name: 'instants as far as a date goes, past and future, kept exactly and in order (0.8, S07)',
    run: async ({ enqueue, get, claim }) => {
      const instants = [lastMs, 253_402_300_800_000, 1, 0, -1, -62_135_596_800_001, -lastMs]
      const ids = await enqueue(...instants.map((atMs) => ({ atMs })))
      for (const [n, atMs] of instants.entries()) {
        assert.equal((await get(ids[n] as string)).visibleAtMs, atMs)
      }
      assert.deepEqual((await claim()).ids, ids.slice(2).reverse())
    },
  },
  {
    name: 'a lease of a century lives on (0.20)',
    run: async ({ store, start, seen, reclaim, worker }) => {
      const { id, token } = await start({ leaseTtlMs: centuryMs, timeoutMs: centuryMs })
      await seen(shortMs)
      assert.deepEqual(await reclaim(), [])
      assert.deepEqual(
        (await store.jobs.expireTimeouts({ limit: 100 })).jobs.filter((job) => job.id === id),
        [],
      )
      assert.deepEqual((await store.claims.renew({ worker, tokens: [token] })).held, [
        { id, epoch: 1, cancel: false },
      ])
    },
  },
  {
    name: 'a thousand jobs in one insert, one claim, one renewal and one settle (0.10, 0.16)',
    run: async ({ store, enqueue, claim, worker, get }) => {
      const ids = await enqueue(
        ...Array.from({ length: 1_000 }, (_, n) => ({ leaseTtlMs: 30_000 + (n % 3) })),
      )
      const { token, ids: taken } = await claim()
      assert.deepEqual(taken, ids)
      const { held } = await store.claims.renew({ worker, tokens: [token] })
      assert.deepEqual(
        held,
        ids.map((id) => ({ id, epoch: 1, cancel: false })),
      )
      const settlements = ids.map((id, n) => ({
        id,
        epoch: 1,
        outcome: { kind: 'succeeded', result: `${n}` } as const,
        repeated: false,
      }))
      const { results } = await store.jobs.settle({ worker, settlements })
      assert.ok(results.length === 1_000 && results.every(({ settled }) => settled === 'applied'))
      assert.equal((await get(ids[567] as string)).result, '567')
    },
  },
  {
    name: 'a hundred tokens in one renewal (0.10)',
    run: async ({ store, enqueue, claim, worker }) => {
      const ids = await enqueue(...Array.from({ length: 100 }, () => ({})))
      const tokens: string[] = []
      for (let n = 0; n < 100; n++) tokens.push((await claim({ limit: 1 })).token)
      const { held } = await store.claims.renew({ worker, tokens })
      assert.deepEqual(
        held.map(({ id }) => id),
        ids,
      )
    },
  },
  {
    name: 'an input and a result of one mebibyte (0.23)',
    run: async ({ start, get, settle }) => {
      const text = JSON.stringify('0123456789abcdé\u0007'.repeat(65_536).slice(0, 1_000_000))
      const { id, epoch } = await start({ input: text })
      await settle(id, epoch, { kind: 'succeeded', result: text })
      const { spec, result } = await get(id)
      assert.ok(spec.input === text && result === text)
    },
  },
  {
    name: "the database's clock counts whole milliseconds since 1970 and does not stand still over calls (0.1)",
    run: async ({ now, pass }) => {
      const beforeMs = await now()
      assert.ok(Number.isSafeInteger(beforeMs))
      await pass(2)
      assert.ok((await now()) >= beforeMs + 2)
    },
  },
  {
    name: 'setting the store up again, by several at once, changes nothing (S09)',
    run: async ({ store, enqueueOne, unchanged }) => {
      const id = await enqueueOne()
      await unchanged([id], () => Promise.all(Array.from({ length: 4 }, () => store.migrate())))
    },
  },
]
