import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { type Fixture, assertChanged, assertEnds, assertWithin, succeeded } from './fixture.ts'

/** Repairs until nothing is left; answers those of these ids that were repaired, in their order. */
async function repaired(
  { store }: Fixture,
  ids: readonly string[],
  { limit = 100, olderMs = 0 } = {},
): Promise<string[]> {
  const own: string[] = []
  for (let last = -1, calls = 0; last !== 0; calls++) {
    assertEnds(calls)
    const reply = await store.jobs.repairDispatch({ limit, olderMs })
    own.push(...reply.ids.filter((id) => ids.includes(id)))
    last = reply.ids.length
  }
  return own
}

export const dispatchCases: readonly Case[] = [
  {
    name: 'an undispatched job is queued without a visible time, and nobody claims it (0.11)',
    run: async ({ enqueueOne, get, claim, unchanged }) => {
      const id = await enqueueOne({ undispatched: true, band: 0 })
      const { state, visibleAtMs, version, epoch, attempt } = await get(id)
      assert.deepEqual([state, visibleAtMs, version, epoch, attempt], ['queued', null, 1, 0, 0])
      for (const solo of ['take', 'await', 'pass'] as const) {
        const { ids, soloWaiting } = await unchanged([id], () => claim({ solo }))
        assert.deepEqual([ids, soloWaiting], [[], false])
      }
    },
  },
  {
    name: 'a repair gives it its place, due now, and burns no attempt (10.1, 10.4)',
    run: async (fixture) => {
      const { enqueueOne, get, now, claim } = fixture
      const id = await enqueueOne({ undispatched: true, band: 1 })
      const before = await get(id)
      const fromMs = await now()
      assert.deepEqual(await repaired(fixture, [id]), [id])
      const after = await get(id)
      assertWithin(after.visibleAtMs, fromMs, await now())
      assertChanged(after, before, { visibleAtMs: after.visibleAtMs, updatedAtMs: after.visibleAtMs })
      assert.deepEqual((await claim()).ids, [id])
    },
  },
  {
    name: 'what the producer stated comes through it unchanged, metadata and trace context too (27.3)',
    run: async (fixture) => {
      const { store, newJob, name, claim, get } = fixture
      const job = newJob({
        undispatched: true,
        input: '{"x":[1]}',
        metadata: { __proto__x: '1', tenant: 'ä😀\u0000\uD800', 'a.b': "'; --", '': '' },
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        leaseTtlMs: 6 * 3_600_000,
        timeoutMs: 7,
        backoffMs: [3, 4],
        jitter: true,
      })
      await store.jobs.insert({ insertId: name('insert'), jobs: [job] })
      await repaired(fixture, [job.spec.id])
      assert.deepEqual((await get(job.spec.id)).spec, job.spec)
      assert.deepEqual((await claim()).jobs[0]?.spec, job.spec)
    },
  },
  {
    name: 'it is repaired once it is as old as was said, not a millisecond before (10.3)',
    needs: 'clock',
    run: async (fixture) => {
      const id = await fixture.enqueueOne({ undispatched: true })
      await fixture.advance(59_999)
      const olderMs = 60_000
      assert.deepEqual(await fixture.unchanged([id], () => repaired(fixture, [id], { olderMs })), [])
      await fixture.advance(1)
      assert.deepEqual(await repaired(fixture, [id], { olderMs }), [id])
    },
  },
  {
    name: 'the first created comes first, whatever its id and band, and is claimed in claim order (0.8)',
    run: async (fixture) => {
      const base = fixture.name('job')
      const jobs = ['c', 'a', 'b', 'd'].map((end, n) => ({
        id: `${base}-${end}`,
        band: 3 - n,
        undispatched: true,
      }))
      const ids = await fixture.enqueue(...jobs)
      assert.deepEqual(await repaired(fixture, ids, { limit: 3 }), ids)
      assert.deepEqual((await fixture.claim()).ids, [...ids].reverse())
    },
  },
  {
    name: 'the limit counts jobs, the rest is left for later, and nothing is nothing (0.9)',
    needs: 'content',
    run: async ({ store, enqueue, unchanged }) => {
      const ids = await enqueue(...Array.from({ length: 5 }, () => ({ undispatched: true })))
      const repair = async (limit: number): Promise<readonly string[]> =>
        (await store.jobs.repairDispatch({ limit, olderMs: 0 })).ids
      for (const limit of [0, -1]) assert.deepEqual(await unchanged(ids, () => repair(limit)), [])
      assert.deepEqual(await repair(2), ids.slice(0, 2))
      assert.deepEqual(await repair(2), ids.slice(2, 4))
      assert.deepEqual(await repair(9), ids.slice(4))
      assert.deepEqual(await unchanged(ids, () => repair(9)), [])
    },
  },
  {
    name: 'it touches nothing else: due, delayed, running, ended and cancelled jobs stay as they are (10.3)',
    run: async (fixture) => {
      const { store, enqueue, claim, settle, unchanged } = fixture
      const [running, ended] = (await enqueue({}, {})) as [string, string]
      await claim()
      await settle(ended, 1, succeeded)
      const rest = (await enqueue({}, { delayMs: 60_000 }, { undispatched: true })) as [
        string,
        string,
        string,
      ]
      await store.jobs.requestCancel({ id: rest[2] })
      const ids = [running, ended, ...rest]
      await repaired(fixture, [])
      assert.deepEqual(await unchanged(ids, () => repaired(fixture, ids)), [])
    },
  },
  {
    name: 'inserting it again answers the job that is there, and gives it no place (0.17)',
    run: async ({ store, newJob, name, unchanged }) => {
      const job = newJob({ undispatched: true })
      const params = { insertId: name('insert'), jobs: [job] }
      const first = await store.jobs.insert(params)
      const { id } = job.spec
      assert.deepEqual(await unchanged([id], () => store.jobs.insert(params)), first)
      const due = { insertId: name('insert'), jobs: [newJob({ id })] }
      const again = await unchanged([id], () => store.jobs.insert(due))
      assert.deepEqual(again, { kind: 'inserted', jobs: [{ id, created: false }] })
    },
  },
  {
    name: 'of four repairs at once, each job is repaired once (10.1)',
    run: async (fixture) => {
      const ids = await fixture.enqueue(...Array.from({ length: 12 }, () => ({ undispatched: true })))
      const race = Array.from({ length: 4 }, () => repaired(fixture, ids, { limit: 2 }))
      const taken = (await Promise.all(race)).flat()
      assert.deepEqual([...taken].sort(), [...ids].sort())
      for (const id of ids) assert.equal((await fixture.get(id)).version, 2)
    },
  },
]
