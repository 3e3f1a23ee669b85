import assert from 'node:assert/strict'
import type { JobState, Outcome } from '../../engine/jobs/record.ts'
import type { Case } from './case.ts'
import {
  type Fixture,
  type JobOptions,
  assertChanged,
  cancelled,
  failure,
  released,
  shortMs,
  succeeded,
  unclaimed,
} from './fixture.ts'

/** How a running job ends that was asked to, by how its holder ends its attempt. */
const ends: readonly (readonly [what: string, Outcome, JobState, JobOptions])[] = [
  ['success', succeeded, 'succeeded', {}],
  ['a failure with budget left', failure({ delayMs: 60_000 }), 'cancelled', {}],
  ['the last failure', failure(), 'failed', { maxAttempts: 1 }],
  ['a permanent failure', failure({ permanent: true }), 'failed', {}],
  ['a release', released, 'cancelled', {}],
  ['a cancel', cancelled, 'cancelled', {}],
]

const settled: readonly Case[] = ends.map(([what, outcome, state, options]) => ({
  name: `cancel, then ${what}: the job is ${state} (6.2, E23)`,
  run: async ({ store, start, settle, get, claim, unchanged }) => {
    const { id, epoch } = await start(options)
    await store.jobs.requestCancel({ id })
    const before = await get(id)
    assert.deepEqual(await settle(id, epoch, outcome), { settled: 'applied', state })
    const after = await get(id)
    const stamps = { finishedAtMs: after.updatedAtMs, updatedAtMs: after.updatedAtMs }
    const charged =
      outcome.kind === 'failed' ? { failures: 1, error: { code: 'E_TEST', message: 'it broke' } } : {}
    const result = outcome.kind === 'succeeded' ? outcome.result : null
    const lastSettle = { epoch, kind: outcome.kind }
    assertChanged(after, before, { ...unclaimed, ...stamps, ...charged, result, state, lastSettle })
    assert.deepEqual((await claim()).ids, [])
    const repeat = await unchanged([id], () => settle(id, epoch, outcome, true))
    assert.deepEqual(repeat, { settled: 'applied', state })
  },
}))

const first: readonly Case[] = ends.map(([what, outcome, , options]) => ({
  name: `${what}, then cancel: the first end that was committed stays, and the answer says so (0.15, E23)`,
  run: async ({ store, start, settle, get, unchanged }) => {
    const { id, epoch } = await start(options)
    const { state } = await settle(id, epoch, outcome)
    const ask = (): Promise<unknown> => store.jobs.requestCancel({ id })
    if (state === 'queued') {
      assert.deepEqual(await ask(), { kind: 'cancelled' })
      assert.equal((await get(id)).state, 'cancelled')
    } else {
      const said = state === 'cancelled' ? { kind: 'cancelled' } : { kind: 'ended', state }
      assert.deepEqual(await unchanged([id], ask), said)
    }
  },
}))

const together: readonly Case[] = ends.map(([what, outcome, state, options]) => ({
  name: `cancel and ${what} at once: one end, the answers agree with it, and nothing comes back (E23)`,
  run: async ({ store, start, settle, get, claim }) => {
    for (let round = 0; round < 4; round++) {
      const { id, epoch } = await start(options)
      const ask = (): Promise<unknown> => store.jobs.requestCancel({ id })
      const end = (): Promise<unknown> => settle(id, epoch, outcome)
      const [one, other] = await Promise.all(round % 2 === 0 ? [ask(), end()] : [end(), ask()])
      const [said, ended] = round % 2 === 0 ? [one, other] : [other, one]
      const after = await get(id)
      // A return that came first was cancelled in the queue.
      const returned = state === 'cancelled' && outcome.kind !== 'cancelled'
      assert.equal(after.state, state)
      const { settled, state: then } = ended as { settled: string; state: JobState }
      assert.ok(settled === 'applied' && (then === state || (returned && then === 'queued')))
      const possible = [
        { kind: 'requested' },
        state === 'cancelled' ? { kind: 'cancelled' } : { kind: 'ended', state },
      ]
      assert.ok(possible.some((reply) => JSON.stringify(reply) === JSON.stringify(said)))
      assert.deepEqual((await claim()).ids, [])
    }
  },
}))

async function expired(fixture: Fixture, options: JobOptions): Promise<{ id: string; state: JobState }> {
  const { store, start, seen, worker } = fixture
  const { id, token } = await start({ timeoutMs: 10_000, leaseTtlMs: 20_000, ...options })
  await store.jobs.requestCancel({ id })
  for (let n = 0; n < 3; n++) {
    await seen(10_000)
    await store.claims.renew({ worker, tokens: [token] })
  }
  const before = await fixture.get(id)
  const { jobs } = await store.jobs.expireTimeouts({ limit: 100 })
  const after = await fixture.get(id)
  assert.deepEqual(
    jobs.filter((job) => job.id === id),
    [{ id, epoch: 2, failures: 1, state: after.state }],
  )
  const stamps = { finishedAtMs: after.updatedAtMs, updatedAtMs: after.updatedAtMs }
  const error = { code: 'TIMEOUT', message: 'attempt exceeded 10000 ms' }
  const charged = { epoch: 2, failures: 1, error, state: after.state }
  assertChanged(after, before, { ...unclaimed, ...stamps, ...charged })
  return { id, state: after.state }
}

const taken: readonly Case[] = [
  {
    name: 'cancel, then reclaim: it ends as cancelled instead of coming back, and its holder is fenced off (6.2)',
    run: async ({ store, start, seen, reclaim, get, claim, settle, unchanged }) => {
      const { id, epoch } = await start({ leaseTtlMs: shortMs })
      await store.jobs.requestCancel({ id })
      await seen(shortMs)
      const before = await get(id)
      assert.deepEqual(await reclaim(), [{ id, epoch: 2, evictions: 1, state: 'cancelled' }])
      const after = await get(id)
      const stamps = { finishedAtMs: after.updatedAtMs, updatedAtMs: after.updatedAtMs }
      const error = { code: 'LEASE_LOST', message: 'lease lost x1' }
      const charged = { epoch: 2, evictions: 1, error, state: 'cancelled' } as const
      assertChanged(after, before, { ...unclaimed, ...stamps, ...charged })
      for (const [, outcome] of ends) {
        const late = await unchanged([id], () => settle(id, epoch, outcome))
        assert.deepEqual(late, { settled: 'lost', state: 'cancelled' })
      }
      assert.deepEqual((await claim()).ids, [])
    },
  },
  {
    name: 'cancel, then the last eviction: it is dead-lettered, for that is an end too (0.5, 6.2)',
    run: async ({ store, start, seen, reclaim }) => {
      const { id } = await start({ leaseTtlMs: shortMs, maxEvictions: 1 })
      await store.jobs.requestCancel({ id })
      await seen(shortMs)
      assert.deepEqual(await reclaim(), [{ id, epoch: 2, evictions: 1, state: 'failed' }])
      assert.deepEqual(await store.jobs.requestCancel({ id }), { kind: 'ended', state: 'failed' })
    },
  },
  {
    name: 'reclaim, then cancel: it ends in the queue, also during its backoff (6.2, E23)',
    run: async ({ store, start, seen, reclaim, claim, settle, unchanged }) => {
      const { id, epoch } = await start({ leaseTtlMs: shortMs, backoffMs: [60_000] })
      await seen(shortMs)
      await reclaim()
      assert.deepEqual(await store.jobs.requestCancel({ id }), { kind: 'cancelled' })
      const late = await unchanged([id], () => settle(id, epoch, succeeded, true))
      assert.deepEqual(late, { settled: 'superseded', state: 'cancelled' })
      assert.deepEqual((await claim()).ids, [])
    },
  },
  {
    name: 'cancel and reclaim at once: it is cancelled in either order (E23)',
    run: async ({ store, start, seen, reclaim, get, claim }) => {
      for (let round = 0; round < 4; round++) {
        const { id } = await start({ leaseTtlMs: shortMs })
        await seen(shortMs)
        const ask = (): Promise<unknown> => store.jobs.requestCancel({ id })
        await Promise.all(round % 2 === 0 ? [ask(), reclaim()] : [reclaim(), ask()])
        const { state, evictions } = await get(id)
        assert.deepEqual([state, evictions], ['cancelled', 1])
        assert.deepEqual((await claim()).ids, [])
      }
    },
  },
  {
    name: 'cancel and claim at once: it never starts, or it starts and is told (6.2, E23)',
    run: async ({ store, enqueueOne, claim, get, worker }) => {
      for (let round = 0; round < 4; round++) {
        const id = await enqueueOne()
        const ask = (): Promise<unknown> => store.jobs.requestCancel({ id })
        const [{ ids, token }, said] =
          round % 2 === 0
            ? await Promise.all([claim(), ask()])
            : await Promise.all([ask(), claim()]).then(([reply, taken]) => [taken, reply] as const)
        const { state } = await get(id)
        const { held } = await store.claims.renew({ worker, tokens: [token] })
        const started = ids.length === 1
        assert.deepEqual(said, { kind: started ? 'requested' : 'cancelled' })
        assert.equal(state, started ? 'running' : 'cancelled')
        assert.deepEqual(held, started ? [{ id, epoch: 1, cancel: true }] : [])
      }
    },
  },
  {
    name: 'cancel, then a timeout of the backstop: cancelled while budget is left, dead-lettered at its end (6.2)',
    needs: 'clock',
    run: async (fixture) => {
      assert.equal((await expired(fixture, {})).state, 'cancelled')
      assert.equal((await expired(fixture, { maxAttempts: 1 })).state, 'failed')
    },
  },
]

export const cancelRaceCases: readonly Case[] = [...settled, ...first, ...together, ...taken]
