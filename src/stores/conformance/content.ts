import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { type Fixture, failure, succeeded } from './fixture.ts'

/** Something of everything that a store holds. */
async function furnish(fixture: Fixture): Promise<void> {
  const { store, enqueue, start, settle, name, worker, sweepMs, move } = fixture
  await sweepMs()
  await move()
  await start({ leaseTtlMs: 60_000 })
  const ended = await start()
  await settle(ended.id, ended.epoch, succeeded)
  const failed = await start()
  await settle(failed.id, failed.epoch, failure({ delayMs: 60_000 }))
  await store.claims.recover({ token: name('token'), worker })
  await enqueue({ band: 3 }, { band: 1 }, { delayMs: 60_000 }, { undispatched: true, metadata: { a: '1' } })
  const noted = await start()
  await store.jobs.progress({ id: noted.id, epoch: noted.epoch, percent: 12.5, phase: 'x' })
  for (const key of ['b', 'a']) {
    await store.jobs.checkpoint({ id: noted.id, epoch: noted.epoch, key, value: `"${key}"` })
  }
  const lines = [0, 1].map((line) => ({ line, level: 'info' as const, text: `line ${line}` }))
  await store.logs.append({ id: noted.id, epoch: noted.epoch, lines })
  await store.jobs.requestCancel({ id: noted.id })
  await store.leases.acquire({ key: name('key'), owner: worker, ttlMs: 60_000 })
  await store.control.set({ queue: name('queue'), paused: true })
  const schedule = { version: null, spec: '{}', nextAtMs: 9_000_000_000_000 }
  for (const end of ['b', 'a']) {
    await store.schedules.put({ ...schedule, key: name(end), command: name('command') })
  }
}

export const contentCases: readonly Case[] = [
  {
    name: 'a dump reads and changes nothing, and says the same twice, to the byte',
    needs: 'content',
    run: async (fixture) => {
      await furnish(fixture)
      const first = JSON.stringify(await fixture.inspectable().dump())
      assert.equal(JSON.stringify(await fixture.inspectable().dump()), first)
    },
  },
  {
    name: 'a dump shows each job as get does',
    needs: 'content',
    run: async (fixture) => {
      await furnish(fixture)
      const { jobs } = await fixture.inspectable().dump()
      assert.ok(jobs.length >= 6)
      for (const job of jobs) assert.deepEqual(job, await fixture.get(job.spec.id))
    },
  },
  {
    name: 'a reset leaves nothing, and the store works on',
    needs: 'content',
    run: async (fixture) => {
      await furnish(fixture)
      await fixture.inspectable().reset()
      const control = { hold: false, paused: [] }
      const rows = { jobs: [], claims: [], leases: [], checkpoints: [], logs: [], named: [] }
      const empty = { ...rows, watch: null, control, schedules: [], timeline: 0 }
      assert.deepEqual(await fixture.inspectable().dump(), empty)
      const id = await fixture.enqueueOne()
      assert.deepEqual((await fixture.claim()).ids, [id])
    },
  },
  {
    name: 'a restored snapshot is what it was, to the byte, as often as one likes',
    needs: 'content',
    run: async (fixture) => {
      const store = fixture.inspectable()
      await furnish(fixture)
      const before = JSON.stringify(await store.dump())
      const snapshot = await store.snapshot()
      for (let round = 0; round < 2; round++) {
        await fixture.claim()
        await furnish(fixture)
        assert.notEqual(JSON.stringify(await store.dump()), before)
        await store.restore(snapshot)
        assert.equal(JSON.stringify(await store.dump()), before)
      }
    },
  },
  {
    name: 'a restored store goes on as the first did: order, sequence, leases, void headers, insert ids',
    needs: 'content',
    run: async (fixture) => {
      const store = fixture.inspectable()
      const { name, worker, newJob, claimParams } = fixture
      await furnish(fixture)
      const undispatched = ['b', 'a'].map((end) => newJob({ id: name(end), undispatched: true }))
      const insert = { insertId: name('insert'), jobs: [newJob({ band: 0 }), newJob(), ...undispatched] }
      await store.jobs.insert(insert)
      const key = name('key')
      await store.leases.acquire({ key, owner: worker, ttlMs: 60_000 })
      const [voided, token, added] = [name('token'), name('token'), { insertId: name('i'), jobs: [newJob()] }]
      await store.claims.recover({ token: voided, worker })
      const snapshot = await store.snapshot()
      const goOn = async (): Promise<unknown> => [
        await store.jobs.insert(insert),
        await store.jobs.insert(added),
        await store.claims.claim(claimParams({ token: voided })),
        await store.claims.claim(claimParams({ token, limit: 3 })),
        await store.claims.renew({ worker, tokens: [token, voided] }).then(({ held }) => held),
        await store.jobs.repairDispatch({ limit: 9, olderMs: 0 }),
        await store.leases.acquire({ key, owner: worker, ttlMs: 60_000 }),
        await store.control.get(),
        (await store.dump()).jobs.map(({ seq, state, epoch }) => ({ seq, state, epoch })),
      ]
      const first = await goOn()
      await store.restore(snapshot)
      assert.deepEqual(await goOn(), first)
    },
  },
  {
    name: 'a snapshot of another store is refused, and nothing changes',
    needs: 'content',
    run: async (fixture) => {
      await furnish(fixture)
      const store = fixture.inspectable()
      const foreign = { store: 'no store of ours', content: {} }
      await fixture.unchanged([], () =>
        assert.rejects(async () => store.restore(foreign), { code: 'INVALID_ARGUMENT' }),
      )
    },
  },
]
