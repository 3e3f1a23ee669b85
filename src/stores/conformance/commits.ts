import assert from 'node:assert/strict'
import type { CommitStore, Worked } from '../../engine/ports/store.ts'
import type { Case } from './case.ts'
import { type Fixture, failure } from './fixture.ts'

/** Of the handler's own rows nothing is seen here: how they are written is each store's own. */
function commitsOf({ store }: Pick<Fixture, 'store'>): CommitStore {
  return store.commits ?? assert.fail('the store has no commits')
}

const result = '{"moved":7}'
const works = (): Worked => ({ result })

const cases: readonly Case[] = [
  {
    name: 'a transaction settles its attempt as succeeded, as a settle would (0.13, 0.16)',
    run: async (fixture) => {
      const { start, settle, get } = fixture
      const [a, b] = [await start(), await start()]
      const reply = await commitsOf(fixture).transact({ id: a.id, epoch: a.epoch, work: works })
      assert.deepEqual(reply, { kind: 'committed' })
      await settle(b.id, b.epoch, { kind: 'succeeded', result })
      const { spec: _a, seq: _s, ...is } = await get(a.id)
      const { spec: _b, seq: _t, ...settled } = await get(b.id)
      const stamps = ['createdAtMs', 'updatedAtMs', 'finishedAtMs'].map((key) => [key, 'any'])
      assert.deepEqual(
        { ...is, ...Object.fromEntries(stamps) },
        { ...settled, ...Object.fromEntries(stamps) },
      )
    },
  },
  {
    name: 'what its function threw changes nothing, and is answered as it is',
    run: async (fixture) => {
      const { start, unchanged } = fixture
      const { id, epoch } = await start()
      const thrown = new RangeError('the account is locked')
      const work = (): Worked => ({ thrown })
      const reply = await unchanged([id], () => commitsOf(fixture).transact({ id, epoch, work }))
      assert.deepEqual(reply, { kind: 'thrown', error: thrown })
      assert.deepEqual(await commitsOf(fixture).transact({ id, epoch, work: works }), { kind: 'committed' })
    },
  },
  {
    name: 'a transaction at another epoch, of a job that ended or is not there, is lost (0.13)',
    run: async (fixture) => {
      const { start, settle, unchanged, name } = fixture
      const [a, b] = [await start(), await start()]
      await settle(b.id, b.epoch, failure({ permanent: true }))
      const attempts = [
        { id: a.id, epoch: a.epoch + 1 },
        { id: a.id, epoch: a.epoch - 1 },
        { id: b.id, epoch: b.epoch },
        { id: name('nobody'), epoch: 1 },
      ]
      for (const attempt of attempts) {
        const transact = (): Promise<unknown> => commitsOf(fixture).transact({ ...attempt, work: works })
        assert.deepEqual(await unchanged([a.id, b.id], transact), { kind: 'lost' })
      }
    },
  },
  {
    name: 'to confirm what was committed changes nothing, however often (0.15, E09)',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start()
      await commitsOf(fixture).transact({ id, epoch, work: works })
      for (let repeat = 0; repeat < 2; repeat++) {
        const reply = await fixture.unchanged([id], () => commitsOf(fixture).confirm({ id, epoch }))
        assert.deepEqual(reply, { kind: 'committed', state: 'succeeded' })
      }
    },
  },
  {
    name: 'to confirm what was not committed gives the job back uncharged, and what comes later is lost (0.10, E09)',
    run: async (fixture) => {
      const { start, claim, get, unchanged } = fixture
      const { id, epoch } = await start()
      const released = { kind: 'released', state: 'queued' }
      assert.deepEqual(await commitsOf(fixture).confirm({ id, epoch }), released)
      const { state, failures, evictions, token } = await get(id)
      assert.deepEqual(
        { state, failures, evictions, token },
        { state: 'queued', failures: 0, evictions: 0, token: null },
      )
      const late = { id, epoch, work: works }
      assert.deepEqual(await unchanged([id], () => commitsOf(fixture).transact(late)), { kind: 'lost' })
      assert.deepEqual(await unchanged([id], () => commitsOf(fixture).confirm({ id, epoch })), released)
      assert.deepEqual((await claim()).ids, [id])
      const again = await unchanged([id], () => commitsOf(fixture).confirm({ id, epoch }))
      assert.deepEqual(again, { kind: 'released', state: 'running' })
    },
  },
  {
    name: 'to confirm an attempt that others have ended says that it is lost',
    run: async (fixture) => {
      const { start, settle, unchanged, name } = fixture
      const { id, epoch } = await start()
      await settle(id, epoch, failure({ permanent: true }))
      const reply = await unchanged([id], () => commitsOf(fixture).confirm({ id, epoch }))
      assert.deepEqual(reply, { kind: 'lost', state: 'failed' })
      const nobody = { id: name('nobody'), epoch: 1 }
      assert.deepEqual(await commitsOf(fixture).confirm(nobody), { kind: 'lost', state: null })
    },
  },
  {
    name: 'a job whose end was asked for is cancelled where its transaction was not committed (6.2)',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start()
      await fixture.store.jobs.requestCancel({ id })
      assert.deepEqual(await commitsOf(fixture).confirm({ id, epoch }), {
        kind: 'released',
        state: 'cancelled',
      })
    },
  },
]

export const commitCases: readonly Case[] = cases.map((each) => ({ ...each, needs: 'commits' }))
