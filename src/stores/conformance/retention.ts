import assert from 'node:assert/strict'
import type { SweepParams } from '../../engine/ports/retention.ts'
import type { Case } from './case.ts'
import {
  type Fixture,
  type JobOptions,
  assertEnds,
  cancelled,
  failure,
  released,
  succeeded,
} from './fixture.ts'

const dayMs = 86_400_000
const level = 'info' as const
/** So short that nothing has to be waited for. */
const kept = { keepMs: 0 }

/** One whole pass; answers those of these jobs that were removed, in their order. */
async function swept(
  { store }: Fixture,
  ids: readonly string[],
  params: Partial<SweepParams> = {},
): Promise<string[]> {
  const own: string[] = []
  let after: string | null = null
  let calls = 0
  do {
    assertEnds(calls++)
    const stock = { after, limit: 100, deadLetterMs: 30 * dayMs, olderMs: 0 }
    const reply = await store.retention.sweep({ ...stock, ...params, after })
    own.push(...reply.removed.filter((id) => ids.includes(id)))
    after = reply.after
  } while (after !== null)
  return own
}

/** Passes one after the other while nothing is to be removed. */
async function stays(fixture: Fixture, ids: readonly string[]): Promise<void> {
  assert.deepEqual(await fixture.unchanged(ids, () => swept(fixture, ids)), [])
}

/** A job that has come to its end in this way. */
async function ended(
  fixture: Fixture,
  end: Parameters<Fixture['settle']>[2],
  options: JobOptions = kept,
): Promise<string> {
  const { id, epoch } = await fixture.start(options)
  await fixture.settle(id, epoch, end)
  return id
}

export const retentionCases: readonly Case[] = [
  {
    name: 'a job goes when it has been over for as long as it is kept, by the time of the database, not before (15.1)',
    needs: 'clock',
    run: async (fixture) => {
      const options = { keepMs: 5 * dayMs }
      const ids = [await ended(fixture, succeeded, options), await ended(fixture, cancelled, options)]
      await fixture.advance(5 * dayMs - 1)
      await stays(fixture, ids)
      await fixture.advance(1)
      assert.deepEqual(await swept(fixture, ids), ids)
      for (const id of ids) assert.equal(await fixture.store.jobs.get({ id }), null)
    },
  },
  {
    name: 'a job that waits, runs or has no place in the queue stays, however old it is (15.5, 27.70, E24)',
    needs: 'clock',
    run: async (fixture) => {
      const running = await fixture.start(kept)
      const again = await fixture.start(kept)
      await fixture.settle(again.id, again.epoch, failure({ delayMs: 1 }))
      const back = await fixture.start(kept)
      await fixture.store.jobs.checkpoint({ ...back, key: 'page', value: '7' })
      await fixture.settle(back.id, back.epoch, released)
      const waiting = await fixture.enqueue(
        kept,
        { ...kept, delayMs: dayMs },
        { ...kept, undispatched: true },
      )
      await fixture.advance(3_650 * dayMs)
      await stays(fixture, [running.id, again.id, back.id, ...waiting])
    },
  },
  {
    name: 'a dead letter stays for as long as it is open, or until it is one for long enough (16, E24)',
    needs: 'clock',
    run: async (fixture) => {
      const short = await ended(fixture, failure({ permanent: true }))
      const long = await ended(fixture, failure({ permanent: true }), { keepMs: 40 * dayMs })
      await fixture.advance(30 * dayMs - 1)
      await stays(fixture, [short, long])
      await fixture.advance(1)
      assert.deepEqual(await swept(fixture, [short, long]), [short])
      await fixture.advance(10 * dayMs - 1)
      await stays(fixture, [long])
      await fixture.advance(1)
      assert.deepEqual(await swept(fixture, [long]), [long])
    },
  },
  {
    name: 'one that was started anew waits like any other (5.12, 15.5)',
    needs: 'clock',
    run: async (fixture) => {
      const id = await ended(fixture, failure({ permanent: true }))
      const { version } = await fixture.get(id)
      await fixture.store.jobs.retry({ id, version, command: fixture.name('command') })
      await fixture.advance(100 * dayMs)
      await stays(fixture, [id])
    },
  },
  {
    name: 'what hangs on a job goes with it, and nothing of any other (E24)',
    needs: 'content',
    run: async (fixture) => {
      const { store, start, settle, claim } = fixture
      const noted = async (options: JobOptions): Promise<string> => {
        const keys = ['order:4711', `tenant=${fixture.name('tenant')}`]
        const { id, epoch } = await start({ ...options, keys, tenant: 'a' })
        await store.jobs.checkpoint({ id, epoch, key: 'page', value: '7' })
        await store.jobs.checkpoint({ id, epoch, key: 'row', value: '"x"' })
        await store.logs.append({ id, epoch, lines: [{ line: 0, level: 'info', text: 'said' }] })
        await settle(id, epoch, options.keepMs === 0 ? succeeded : released)
        return id
      }
      const other = await noted({})
      // No claim row is left of it that its own would be seen among.
      await store.claims.collect({ limit: 100, voidMs: dayMs })
      const before = await fixture.inspectable().dump()
      const id = await noted(kept)
      await settle(other, 2, released)
      await store.claims.collect({ limit: 100, voidMs: dayMs })
      assert.deepEqual(await swept(fixture, [id, other]), [id])
      const { checkpoints, logs, jobs, claims } = await fixture.inspectable().dump()
      assert.deepEqual(checkpoints, before.checkpoints)
      assert.deepEqual(logs, before.logs)
      assert.deepEqual(claims, before.claims)
      assert.deepEqual(
        jobs.map(({ spec }) => spec.id),
        before.jobs.map(({ spec }) => spec.id),
      )
      assert.deepEqual((await claim()).ids, [other])
    },
  },
  {
    name: 'its id is free again, for any job, and nothing of the one before is left (0.17)',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start(kept)
      await fixture.store.jobs.checkpoint({ id, epoch, key: 'page', value: '7' })
      await fixture.store.logs.append({ id, epoch, lines: [{ line: 0, level: 'info', text: 'said' }] })
      await fixture.settle(id, epoch, succeeded)
      assert.deepEqual(await swept(fixture, [id]), [id])
      const none = { lines: [], total: 0, dropped: 0 }
      assert.deepEqual(await fixture.store.logs.tail({ id, limit: 9 }), { ...none, state: null })
      await fixture.enqueue({ id, input: '{"another":true}' })
      const job = await fixture.get(id)
      const fresh = { state: 'queued', attempt: 0, failures: 0, version: 1, result: null, lastSettle: null }
      assert.deepEqual({ ...job, ...fresh }, job)
      assert.deepEqual(await fixture.store.jobs.checkpoints({ id }), [])
      assert.deepEqual(await fixture.store.logs.tail({ id, limit: 9 }), { ...none, state: 'queued' })
      assert.deepEqual((await fixture.claim()).ids, [id])
    },
  },
  {
    name: 'a write of an attempt whose job is gone is lost, and makes nothing (0.13)',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start(kept)
      await fixture.settle(id, epoch, succeeded)
      await swept(fixture, [id])
      const lost = { settled: 'lost', state: null }
      assert.deepEqual(await fixture.settle(id, epoch, succeeded), lost)
      assert.deepEqual(await fixture.settle(id, epoch, succeeded, true), lost)
      const noted = await fixture.store.jobs.checkpoint({ id, epoch, key: 'page', value: '7' })
      assert.deepEqual(noted, { applied: false })
      assert.equal(await fixture.store.jobs.get({ id }), null)
    },
  },
  {
    name: 'a write of an attempt whose job is gone reaches no other that has come by its id and is as far (0.13)',
    run: async (fixture) => {
      const { store, start, settle, unchanged, worker } = fixture
      const before = await start(kept)
      const { id, epoch } = before
      const { seq } = await fixture.get(id)
      await settle(id, epoch, succeeded)
      assert.deepEqual(await swept(fixture, [id]), [id])
      const anew = await start({ id })
      assert.equal(anew.epoch, epoch)
      const own = await fixture.get(id)
      const at = { id, epoch, seq }
      const outcomes = [succeeded, failure(), released, cancelled]
      for (const token of [before.token, null]) {
        const claimed = { token, seq }
        for (const repeated of [false, true]) {
          const settlements = outcomes.map((outcome) => ({ id, epoch, outcome, repeated, claimed }))
          const reply = await unchanged([id], () => store.jobs.settle({ worker, settlements }))
          assert.deepEqual(
            reply.results,
            outcomes.map(() => ({ settled: 'lost', state: null })),
          )
        }
      }
      const lost = { applied: false }
      const told = { ...at, percent: 1, phase: null }
      assert.deepEqual(await unchanged([id], () => store.jobs.progress(told)), lost)
      const note = { ...at, key: 'page', value: '7' }
      assert.deepEqual(await unchanged([id], () => store.jobs.checkpoint(note)), lost)
      const said = { ...at, lines: [{ line: 0, level: 'info', text: 'late' }] } as const
      assert.deepEqual(await unchanged([id], () => store.logs.append(said)), lost)
      assert.equal((await store.logs.tail({ id, limit: 9 })).total, 0)
      if (store.commits) {
        const { transact, confirm } = store.commits
        const work = (): { result: string } => ({ result: '1' })
        assert.deepEqual(await unchanged([id], () => transact({ ...at, work })), { kind: 'lost' })
        assert.deepEqual(await unchanged([id], () => confirm(at)), { kind: 'lost', state: null })
      }
      // Its own are as good as ever.
      assert.deepEqual(await store.jobs.checkpoint({ ...note, seq: own.seq }), { applied: true })
      assert.deepEqual(await store.jobs.progress({ ...told, seq: own.seq }), { applied: true })
      assert.deepEqual(await store.logs.append({ ...said, seq: own.seq }), { applied: true })
      const claimed = { token: anew.token, seq: own.seq }
      const settlements = [{ id, epoch, outcome: succeeded, repeated: false, claimed }]
      const { results } = await store.jobs.settle({ worker, settlements })
      assert.deepEqual(results, [{ settled: 'applied', state: 'succeeded' }])
    },
  },
  {
    name: 'a list goes on behind a job that is gone, and none that is left is told twice or left out (12.3, E24)',
    run: async (fixture) => {
      const { store, queue } = fixture
      const list = { queues: [queue], payloads: false, limit: 2 }
      const ids: string[] = []
      for (const options of [{}, kept, {}, kept, {}]) ids.push(await ended(fixture, succeeded, options))
      const [a, b, c, d, e] = ids as [string, string, string, string, string]
      const first = await store.queries.list({ ...list, cursor: null })
      const idsOf = ({ jobs }: typeof first): string[] => jobs.map(({ spec }) => spec.id)
      // The next page begins behind d.
      assert.deepEqual(idsOf(first), [e, d])
      assert.deepEqual(await swept(fixture, ids), [b, d])
      await ended(fixture, succeeded, {})
      const rest = await store.queries.list({ ...list, cursor: first.next })
      assert.deepEqual(idsOf(rest), [c, a])
    },
  },
  {
    name: 'what is no dead letter any more is in no list of them, and is neither replayed nor discarded (16, E24)',
    needs: 'clock',
    run: async (fixture) => {
      const { store } = fixture
      const id = await ended(fixture, failure({ permanent: true }))
      await fixture.advance(30 * dayMs)
      assert.deepEqual(await swept(fixture, [id]), [id])
      const { jobs } = await store.deadLetters.list({ limit: 100, cursor: null, queues: [fixture.queue] })
      assert.deepEqual(jobs, [])
      const replays = [{ id, as: fixture.name('replay') }]
      const command = fixture.name('command')
      assert.deepEqual((await store.deadLetters.replay({ command, replays })).results, [{ kind: 'missing' }])
      assert.deepEqual((await store.deadLetters.discard({ ids: [id] })).results, [{ kind: 'missing' }])
    },
  },
  {
    name: 'a claim that lists a job which is gone holds the others as before, and is removed with the last (0.10)',
    run: async (fixture) => {
      const { store, worker, settle } = fixture
      const [gone, runs] = (await fixture.enqueue(kept, kept)) as [string, string]
      const { token } = await fixture.claim()
      await settle(gone, 1, succeeded)
      assert.deepEqual(await swept(fixture, [gone, runs]), [gone])
      await store.claims.collect({ limit: 100, voidMs: dayMs })
      const { held } = await store.claims.renew({ worker, tokens: [token] })
      assert.deepEqual(held, [{ id: runs, epoch: 1, cancel: false }])
      assert.deepEqual(await settle(runs, 1, succeeded), { settled: 'applied', state: 'succeeded' })
    },
  },
  {
    name: 'a pass goes by order of insertion, the limit counts what is looked at, and it ends where jobs are too young (15.1)',
    needs: ['clock', 'content'],
    run: async (fixture) => {
      const ids: string[] = []
      for (const end of [succeeded, released, succeeded, cancelled, succeeded]) {
        const { id, epoch } = await fixture.start(kept)
        await fixture.settle(id, epoch, end.kind === 'released' ? { ...end, delayMs: dayMs } : end)
        ids.push(id)
        await fixture.advance(10)
      }
      const [a, b, c, d] = ids as [string, string, string, string]
      const { sweep } = fixture.store.retention
      const params = { limit: 2, deadLetterMs: dayMs, olderMs: 11 }
      const first = await sweep({ ...params, after: null })
      assert.deepEqual({ ...first, after: null }, { removed: [a], looked: 2, after: null })
      const second = await sweep({ ...params, after: first.after })
      assert.deepEqual({ ...second, after: null }, { removed: [c, d], looked: 2, after: null })
      assert.deepEqual(await sweep({ ...params, after: second.after }), {
        removed: [],
        looked: 0,
        after: null,
      })
      assert.equal((await fixture.get(b)).state, 'queued')
      // The same again finds what was kept alone, and whether there is more is only known by looking.
      const third = await sweep({ ...params, after: null, olderMs: 0, limit: 1 })
      assert.deepEqual([third.removed, third.looked, third.after === null], [[], 1, false])
    },
  },
  {
    name: 'no limit is no work; more than a thousand at once are never looked at (0.9)',
    run: async (fixture) => {
      const id = await ended(fixture, succeeded)
      for (const limit of [0, -1]) {
        const params = { after: null, limit, deadLetterMs: 0, olderMs: 0 }
        const reply = await fixture.unchanged([id], () => fixture.store.retention.sweep(params))
        assert.deepEqual(reply, { removed: [], looked: 0, after: null })
      }
      const params = { after: null, limit: 10_000, deadLetterMs: dayMs, olderMs: 0 }
      const { looked } = await fixture.store.retention.sweep(params)
      assert.ok(looked <= 1_000)
    },
  },
  {
    name: 'a job that was created while the clock was ahead keeps none behind it (15.1)',
    needs: 'clock',
    run: async (fixture) => {
      await fixture.advance(365 * dayMs)
      const [ahead] = await fixture.enqueue({ keepMs: 0 })
      await fixture.advance(-365 * dayMs)
      const id = await ended(fixture, succeeded)
      await fixture.advance(1_000)
      assert.deepEqual(await swept(fixture, [ahead as string, id], { olderMs: 1_000 }), [id])
    },
  },
  {
    name: 'those with long logs go a few at once, and each goes (15.2)',
    run: async (fixture) => {
      const { store, start, settle } = fixture
      const ids: string[] = []
      for (let k = 0; k < 6; k++) {
        const { id, epoch } = await start(kept)
        for (const from of [0, 1_000]) {
          const lines = Array.from({ length: 1_000 }, (_, n) => ({ line: from + n, level, text: 'x' }))
          await store.logs.append({ id, epoch, lines })
        }
        await settle(id, epoch, succeeded)
        ids.push(id)
      }
      const calls: number[] = []
      let after: string | null = null
      do {
        assertEnds(calls.length)
        const params = { after, limit: 1_000, deadLetterMs: 30 * dayMs, olderMs: 0 }
        const reply = await store.retention.sweep(params)
        calls.push(reply.removed.filter((id) => ids.includes(id)).length)
        after = reply.after
      } while (after !== null)
      assert.deepEqual(
        calls.filter((count) => count > 0),
        [5, 1],
      )
    },
  },
  {
    name: 'of two sweeps at once each job is removed by one (15.3)',
    run: async (fixture) => {
      const ids = await fixture.enqueue(...Array.from({ length: 20 }, () => kept))
      const { jobs } = await fixture.claim()
      for (const { spec, epoch } of jobs) await fixture.settle(spec.id, epoch, succeeded)
      const race = await Promise.all([1, 2, 3].map(() => swept(fixture, ids)))
      assert.deepEqual(race.flat().sort(), [...ids].sort())
    },
  },
  {
    name: 'a named lease goes when it lapsed long enough ago, one that is held stays (15.1)',
    needs: 'clock',
    run: async ({ store, name, advance }) => {
      const [old, held] = [name('key'), name('key')]
      const owner = name('owner')
      await store.leases.acquire({ key: old, owner, ttlMs: 1_000 })
      await advance(dayMs)
      await store.leases.acquire({ key: held, owner, ttlMs: dayMs })
      const params = { limit: 100, lapsedMs: dayMs }
      await advance(999)
      assert.deepEqual(await store.retention.sweepLeases(params), { removed: 0 })
      await advance(1)
      for (const limit of [0, -1]) {
        assert.deepEqual(await store.retention.sweepLeases({ ...params, limit }), { removed: 0 })
      }
      assert.deepEqual(await store.retention.sweepLeases(params), { removed: 1 })
      assert.deepEqual(await store.leases.renew({ key: held, owner, ttlMs: dayMs }), { held: true })
      assert.deepEqual(await store.leases.acquire({ key: old, owner, ttlMs: 1_000 }), { acquired: true })
    },
  },
]
