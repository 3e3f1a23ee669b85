import assert from 'node:assert/strict'
import type { DeadLetterQuery, Replayed } from '../../engine/ports/dead-letters.ts'
import type { JobRecord, JobSpec } from '../../engine/jobs/record.ts'
import type { Case } from './case.ts'
import {
  type Fixture,
  type JobOptions,
  assertChanged,
  assertEnds,
  assertWithin,
  cancelled,
  failure,
  shortMs,
  succeeded,
  unclaimed,
} from './fixture.ts'
import { names } from './hostile.ts'

const forGood = failure({ permanent: true })

/** A job that has failed for good. */
async function dead(fixture: Fixture, options: JobOptions = {}): Promise<string> {
  const { id, epoch } = await fixture.start(options)
  await fixture.settle(id, epoch, forGood)
  return id
}

/** Several, in this order, each a while after the other. */
async function deadOnes(fixture: Fixture, ...options: JobOptions[]): Promise<string[]> {
  const ids: string[] = []
  for (const each of options) {
    ids.push(await dead(fixture, each))
    await fixture.pass(2)
  }
  return ids
}

async function replayOne(fixture: Fixture, id: string, as: string, command?: string): Promise<Replayed> {
  const params = { command: command ?? fixture.name('command'), replays: [{ id, as }] }
  const { results } = await fixture.store.deadLetters.replay(params)
  assert.equal(results.length, 1)
  return results[0] as Replayed
}

/** All of this case, in pages of `limit`. */
async function listed(
  { store, queue }: Fixture,
  query: Partial<DeadLetterQuery> = {},
): Promise<readonly JobRecord[]> {
  const found: JobRecord[] = []
  let cursor: string | null = null
  for (let calls = 0; calls === 0 || cursor !== null; calls++) {
    assertEnds(calls)
    const page = await store.deadLetters.list({ limit: 100, queues: [queue], ...query, cursor })
    assert.ok(page.jobs.length <= (query.limit ?? 100))
    found.push(...page.jobs)
    cursor = page.next
  }
  return found
}
const idsOf = (jobs: readonly JobRecord[]): string[] => jobs.map(({ spec }) => spec.id)

const listCases: readonly Case[] = [
  {
    name: 'lists what failed for good, whole, and nothing else (16.1, 16.2)',
    run: async (fixture) => {
      const { start, settle, enqueue, get, unchanged } = fixture
      const failed = await dead(fixture, { maxAttempts: 1, keys: ['order:1'], metadata: { a: 'b' } })
      const won = await start()
      await settle(won.id, won.epoch, succeeded)
      const ended = await start()
      await settle(ended.id, ended.epoch, cancelled)
      const back = await start()
      await settle(back.id, back.epoch, failure({ delayMs: 60_000 }))
      await enqueue({ delayMs: 60_000 })
      assert.deepEqual(await unchanged([failed], () => listed(fixture)), [await get(failed)])
    },
  },
  {
    name: 'what failed of its leases and of its time is there too (0.5, 0.6)',
    run: async (fixture) => {
      const { start, seen, reclaim, store } = fixture
      const evicted = await start({ leaseTtlMs: shortMs, maxEvictions: 1 })
      await seen(2 * shortMs)
      await reclaim()
      const late = await start({ leaseTtlMs: shortMs, timeoutMs: shortMs, maxAttempts: 1 })
      await seen(3 * shortMs)
      await store.jobs.expireTimeouts({ limit: 1_000 })
      assert.deepEqual(idsOf(await listed(fixture)), [evicted.id, late.id])
    },
  },
  {
    name: 'those that died first come first, whenever they were inserted; of one instant in that order',
    needs: 'clock',
    run: async (fixture) => {
      const { enqueue, claim, settle, advance } = fixture
      const [a, b, c, d] = (await enqueue({}, {}, {}, {})) as [string, string, string, string]
      await claim()
      await settle(d, 1, forGood)
      await advance(1)
      for (const id of [c, a]) await settle(id, 1, forGood)
      await advance(1)
      await settle(b, 1, forGood)
      for (const limit of [1, 2, 3, 4, 5])
        assert.deepEqual(idsOf(await listed(fixture, { limit })), [d, a, c, b])
    },
  },
  {
    name: 'only those of the kinds, the queues and the time that are asked for',
    run: async (fixture) => {
      const { enqueue, claim, settle, name, get, pass, queue, kind } = fixture
      const [otherQueue, otherKind] = [name('queue'), name('kind')]
      const ids = (await enqueue({}, { queue: otherQueue }, { kind: otherKind })) as [string, string, string]
      const queues = [queue, otherQueue].map((each) => ({ queue: each, limit: 9 }))
      await claim({ queues, kinds: [kind, otherKind] })
      for (const id of ids) {
        await settle(id, 1, forGood)
        await pass(2)
      }
      const both = [queue, otherQueue]
      assert.deepEqual(idsOf(await listed(fixture, { queues: both })), ids)
      assert.deepEqual(idsOf(await listed(fixture, { queues: both, kinds: [kind] })), ids.slice(0, 2))
      assert.deepEqual(idsOf(await listed(fixture, { kinds: [kind, otherKind] })), [ids[0], ids[2]])
      assert.deepEqual(await listed(fixture, { queues: [] }), [])
      assert.deepEqual(await listed(fixture, { kinds: [] }), [])
      const { deadAtMs } = await get(ids[1])
      assert.deepEqual(idsOf(await listed(fixture, { queues: both, beforeMs: deadAtMs as number })), [ids[0]])
      const upTo = { queues: both, beforeMs: (deadAtMs as number) + 1 }
      assert.deepEqual(idsOf(await listed(fixture, upTo)), ids.slice(0, 2))
    },
  },
  {
    name: 'a page goes on where the one before ended, though that was replayed, discarded and retried meanwhile (12)',
    run: async (fixture) => {
      const { store, queue, get, name } = fixture
      const ids = (await deadOnes(fixture, {}, {}, {}, {}, {})) as [string, string, string, string, string]
      const ask = { limit: 3, queues: [queue] }
      const first = await store.deadLetters.list({ ...ask, cursor: null })
      assert.deepEqual(idsOf(first.jobs), ids.slice(0, 3))
      await replayOne(fixture, ids[0], name('as'))
      await store.deadLetters.discard({ ids: [ids[1]] })
      await store.jobs.retry({ id: ids[2], version: (await get(ids[2])).version, command: name('command') })
      const second = await store.deadLetters.list({ ...ask, cursor: first.next })
      assert.deepEqual(idsOf(second.jobs), ids.slice(3))
      assert.equal(second.next, null)
    },
  },
  {
    name: 'a limit of nothing lists nothing, and a cursor of nobody is refused',
    run: async (fixture) => {
      await dead(fixture)
      const { store, queue } = fixture
      for (const limit of [0, -1]) {
        const none = await store.deadLetters.list({ limit, cursor: null, queues: [queue] })
        assert.deepEqual(none, { jobs: [], next: null })
      }
      for (const cursor of ['', 'x', '1', '1.2.3', '1.-2', "1.2' or 1=1"]) {
        await assert.rejects(store.deadLetters.list({ limit: 1, cursor }), { code: 'INVALID_ARGUMENT' })
      }
    },
  },
]

/** Every field that a producer states, none of them at its default (16.1, 27.3, 27.4). */
function everything({ name }: Fixture): Partial<JobSpec> {
  return {
    band: 1,
    input: '{"x":[1,"ä😀\\u0000"]}',
    inputVersion: 7,
    maxAttempts: 9,
    maxEvictions: 1,
    backoffMs: [5, 25, 125],
    jitter: true,
    leaseTtlMs: 6 * 3_600_000,
    timeoutMs: 7 * 3_600_000,
    keepMs: 12_345,
    tenant: 'ä"\\1',
    keys: [`order:${name('key')}`, 'tenant=ä"\\1'],
    metadata: { a: 'ä"\\\u0000\uD800', b: '' },
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    enqueuedAtMs: 1_234,
  }
}

const replayCases: readonly Case[] = [
  {
    name: 'makes a new job of all that the failed one stated, from the start and due now (16.1 - 16.4, 27.3, 27.4)',
    run: async (fixture) => {
      const { get, name, now, claim, store } = fixture
      const id = await dead(fixture, everything(fixture))
      const before = await get(id)
      const as = name('as')
      const fromMs = await now()
      assert.deepEqual(await replayOne(fixture, id, as), { kind: 'replayed', as })
      const job = await get(as)
      assertWithin(job.createdAtMs, fromMs, await now())
      const lineage = { root: id, parent: id, replays: 1 }
      assert.deepEqual(job, {
        spec: { ...before.spec, id: as, lineage },
        ...unclaimed,
        state: 'queued',
        epoch: 0,
        attempt: 0,
        failures: 0,
        evictions: 0,
        version: 1,
        seq: job.seq,
        visibleAtMs: job.createdAtMs,
        createdAtMs: job.createdAtMs,
        updatedAtMs: job.createdAtMs,
        finishedAtMs: null,
        cancelRequestedAtMs: null,
        progress: null,
        result: null,
        error: null,
        lastSettle: null,
        lastCommand: null,
        deadAtMs: null,
        replayedAs: null,
        events: [],
      })
      assert.ok(job.seq > before.seq)
      const found = await store.queries.list({ limit: 9, cursor: null, keys: job.spec.keys, payloads: true })
      assert.deepEqual(
        found.jobs.map(({ spec }) => spec.id),
        [job.spec.id, before.spec.id],
      )
      const { jobs } = await claim()
      assert.deepEqual(jobs[0]?.spec, job.spec)
      assert.equal(jobs[0]?.epoch, 1)
    },
  },
  {
    name: 'a replay of what died before an instant leaves one that died at it or later (16, E09)',
    run: async (fixture) => {
      const { get, name, store, unchanged } = fixture
      const id = await dead(fixture)
      const { deadAtMs } = await get(id)
      assert.ok(deadAtMs !== null)
      const replays = [{ id, as: name('as') }]
      const replay = async (beforeMs: number): Promise<unknown> =>
        (await store.deadLetters.replay({ command: name('command'), replays, beforeMs })).results
      assert.deepEqual(await unchanged([id], () => replay(deadAtMs)), [{ kind: 'later' }])
      assert.deepEqual(await replay(deadAtMs + 1), [{ kind: 'replayed', as: replays[0]?.as }])
    },
  },
  {
    name: 'marks the failed one, which is a dead letter no more, in the same write (0.16)',
    run: async (fixture) => {
      const { get, name } = fixture
      const id = await dead(fixture)
      const before = await get(id)
      const [as, command] = [name('as'), name('command')]
      await replayOne(fixture, id, as, command)
      const after = await get(id)
      const { updatedAtMs } = await get(as)
      assertChanged(after, before, { deadAtMs: null, replayedAs: as, updatedAtMs, lastCommand: command })
      assert.deepEqual(after.events.at(-1), {
        kind: 'replayed',
        atMs: updatedAtMs,
        attempt: 1,
        epoch: 1,
        error: null,
      })
      assert.deepEqual(await listed(fixture), [])
    },
  },
  {
    name: 'a replay that fails again is a dead letter again, which knows where it comes from (E22)',
    run: async (fixture) => {
      const { get, name, claim, settle } = fixture
      const root = await dead(fixture, { maxAttempts: 1, keys: ['order:1'] })
      let parent = root
      for (const replays of [1, 2, 3]) {
        const as = name('as')
        await replayOne(fixture, parent, as)
        assert.deepEqual((await get(as)).spec.lineage, { root, parent, replays })
        assert.deepEqual((await claim()).ids, [as])
        await settle(as, 1, failure())
        assert.deepEqual(idsOf(await listed(fixture)), [as])
        parent = as
      }
    },
  },
  {
    name: 'the same again finds that it applied, also once the new job has gone on; another is told as what (E09)',
    run: async (fixture) => {
      const { name, claim, settle, unchanged } = fixture
      const id = await dead(fixture)
      const [as, command] = [name('as'), name('command')]
      const send = (): Promise<Replayed> => replayOne(fixture, id, as, command)
      assert.deepEqual(await send(), { kind: 'replayed', as })
      assert.deepEqual(await unchanged([id, as], send), { kind: 'replayed', as })
      await claim()
      await settle(as, 1, succeeded)
      assert.deepEqual(await unchanged([id, as], send), { kind: 'replayed', as })
      for (const other of [as, name('as')]) {
        const theirs = (): Promise<Replayed> => replayOne(fixture, id, other)
        assert.deepEqual(await unchanged([id, as], theirs), { kind: 'already', as })
      }
    },
  },
  {
    name: 'what is no dead letter is refused, and makes no job',
    run: async (fixture) => {
      const { store, start, settle, enqueueOne, name, unchanged } = fixture
      const queued = await enqueueOne({ delayMs: 60_000 })
      const running = await start()
      const won = await start()
      await settle(won.id, won.epoch, succeeded)
      const discarded = await dead(fixture)
      await store.deadLetters.discard({ ids: [discarded] })
      const states = [
        [queued, 'queued'],
        [running.id, 'running'],
        [won.id, 'succeeded'],
        [discarded, 'failed'],
      ] as const
      for (const [id, state] of states) {
        const as = name('as')
        const refused = await unchanged([id], () => replayOne(fixture, id, as))
        assert.deepEqual(refused, { kind: 'refused', state })
        assert.equal(await store.jobs.get({ id: as }), null)
      }
      assert.deepEqual(await replayOne(fixture, name('nobody'), name('as')), { kind: 'missing' })
    },
  },
  {
    name: 'an id that another job has is taken: the dead letter stays one, and so does the other job as it is',
    run: async (fixture) => {
      const { enqueueOne, unchanged } = fixture
      const id = await dead(fixture)
      const other = await enqueueOne()
      for (const as of [other, id]) {
        assert.deepEqual(await unchanged([id, other], () => replayOne(fixture, id, as)), { kind: 'taken' })
      }
      assert.deepEqual(idsOf(await listed(fixture)), [id])
    },
  },
  {
    name: 'of many each applies on its own, and is answered in its place',
    run: async (fixture) => {
      const { store, enqueueOne, name } = fixture
      const [a, b, c, d] = (await deadOnes(fixture, {}, {}, {}, {})) as [string, string, string, string]
      const taken = await enqueueOne()
      await replayOne(fixture, b, 'before'.concat(name('as')))
      const was = (await fixture.get(b)).replayedAs as string
      const [asA, asD] = [name('as'), name('as')]
      const { results } = await store.deadLetters.replay({
        command: name('command'),
        replays: [
          { id: d, as: asD },
          { id: name('nobody'), as: name('as') },
          { id: b, as: name('as') },
          { id: c, as: taken },
          { id: taken, as: name('as') },
          { id: a, as: asA },
        ],
      })
      assert.deepEqual(results, [
        { kind: 'replayed', as: asD },
        { kind: 'missing' },
        { kind: 'already', as: was },
        { kind: 'taken' },
        { kind: 'refused', state: 'queued' },
        { kind: 'replayed', as: asA },
      ])
      assert.deepEqual(idsOf(await listed(fixture)), [c])
      // They were inserted in the order given.
      assert.ok((await fixture.get(asD)).seq < (await fixture.get(asA)).seq)
    },
  },
  {
    name: 'a thousand in one call; one more, or one named twice, is refused whole',
    run: async (fixture) => {
      const { store, enqueue, claim, worker, name } = fixture
      const ids = await enqueue(...Array.from({ length: 1_001 }, () => ({})))
      await claim({ queues: [{ queue: fixture.queue, limit: 2_000 }], limit: 2_000 })
      const settlements = ids.map((id) => ({ id, epoch: 1, outcome: forGood, repeated: false }))
      await store.jobs.settle({ worker, settlements })
      const replays = ids.map((id) => ({ id, as: `${id}~r1` }))
      const send = (entries: typeof replays): ReturnType<typeof store.deadLetters.replay> =>
        store.deadLetters.replay({ command: name('command'), replays: entries })
      await assert.rejects(send(replays), { code: 'INVALID_ARGUMENT' })
      const [one, two] = replays as [(typeof replays)[0], (typeof replays)[0]]
      await assert.rejects(send([one, { ...two, id: one.id }]), { code: 'INVALID_ARGUMENT' })
      await assert.rejects(send([one, { ...two, as: one.as }]), { code: 'INVALID_ARGUMENT' })
      assert.deepEqual(await send([]), { results: [] })
      const { results } = await send(replays.slice(1))
      assert.deepEqual(
        results,
        replays.slice(1).map(({ as }) => ({ kind: 'replayed', as })),
      )
      assert.deepEqual(idsOf(await listed(fixture)), [one.id])
      assert.deepEqual(
        (await claim({ limit: 1_000 })).ids,
        replays.slice(1).map(({ as }) => as),
      )
    },
  },
  {
    name: 'of eight that replay the same at once, each under its own id, one applies, and all learn as what (E22)',
    run: async (fixture) => {
      const { store, name, claim } = fixture
      const ids = (await deadOnes(fixture, {}, {}, {})) as [string, string, string]
      const race = Array.from({ length: 8 }, (_, n) => {
        const replays = ids.map((id) => ({ id, as: name(`as${n}-`) }))
        if (n % 2) replays.reverse()
        return store.deadLetters.replay({ command: name('command'), replays }).then(({ results }) => {
          return n % 2 ? results.toReversed() : results
        })
      })
      const answers = await Promise.all(race)
      const made: string[] = []
      for (const n of ids.keys()) {
        const of = answers.map((results) => results[n] as Replayed)
        const won = of.filter(({ kind }) => kind === 'replayed')
        assert.equal(won.length, 1)
        const as = new Set(of.map((each) => ('as' in each ? each.as : each.kind)))
        assert.equal(as.size, 1)
        made.push(...as)
      }
      assert.deepEqual((await claim()).ids.toSorted(), made.toSorted())
    },
  },
  {
    name: 'of a replay and a retry at once one applies',
    run: async (fixture) => {
      const { store, name, get, claim } = fixture
      for (let n = 0; n < 4; n++) {
        const id = await dead(fixture)
        const { version } = await get(id)
        const retry = (): Promise<{ kind: string }> =>
          store.jobs.retry({ id, version, command: name('command') })
        const again = (): Promise<{ kind: string }> => replayOne(fixture, id, name('as'))
        const both = await Promise.all(n % 2 ? [retry(), again()] : [again(), retry()])
        const applied = both.filter(({ kind }) => kind === 'applied' || kind === 'replayed')
        assert.equal(applied.length, 1)
        const { ids } = await claim()
        assert.equal(ids.length, 1)
        await fixture.settle(ids[0] as string, (await get(ids[0] as string)).epoch, succeeded)
      }
    },
  },
  {
    name: 'what was replayed cannot be retried, nor cancelled, nor moved',
    run: async (fixture) => {
      const { store, name, get, unchanged } = fixture
      const id = await dead(fixture)
      await replayOne(fixture, id, name('as'))
      const { version } = await get(id)
      const command = { id, version, command: name('command') }
      const refused = { kind: 'refused', version, state: 'failed' }
      assert.deepEqual(await unchanged([id], () => store.jobs.retry(command)), refused)
      const moved = (): Promise<unknown> => store.jobs.reschedule({ ...command, delayMs: 0 })
      assert.deepEqual(await unchanged([id], moved), refused)
      const ended = { kind: 'ended', state: 'failed' }
      assert.deepEqual(await unchanged([id], () => store.jobs.requestCancel({ id })), ended)
    },
  },
  {
    name: 'checkpoints stay with the attempt chain that made them',
    run: async (fixture) => {
      const { store, start, settle, name } = fixture
      const { id, epoch } = await start()
      await store.jobs.checkpoint({ id, epoch, key: 'at', value: '7' })
      await settle(id, epoch, forGood)
      const as = name('as')
      await replayOne(fixture, id, as)
      assert.deepEqual(await store.jobs.checkpoints({ id: as }), [])
    },
  },
  {
    name: 'ids and names of any text',
    run: async (fixture) => {
      const { name } = fixture
      for (const text of names) {
        const id = await dead(fixture, { id: `${name('job')}${text}` })
        const as = `${name('as')}${text}`
        assert.deepEqual(await replayOne(fixture, id, as, `${name('command')}${text}`), {
          kind: 'replayed',
          as,
        })
        assert.equal((await fixture.get(id)).replayedAs, as)
        assert.deepEqual((await fixture.get(as)).spec.lineage, { root: id, parent: id, replays: 1 })
      }
    },
  },
]

const discardCases: readonly Case[] = [
  {
    name: 'takes it out of the dead letters; it stays failed, and can be retried (16)',
    run: async (fixture) => {
      const { store, get, now, name } = fixture
      const id = await dead(fixture)
      const before = await get(id)
      const fromMs = await now()
      assert.deepEqual(await store.deadLetters.discard({ ids: [id] }), { results: [{ kind: 'discarded' }] })
      const after = await get(id)
      const { updatedAtMs } = after
      assertWithin(updatedAtMs, fromMs, await now())
      assertChanged(after, before, { deadAtMs: null, updatedAtMs })
      assert.deepEqual(after.events.at(-1)?.kind, 'discarded')
      assert.deepEqual(await listed(fixture), [])
      const { version } = after
      const retried = await store.jobs.retry({ id, version, command: name('command') })
      assert.deepEqual(retried, { kind: 'applied', version: version + 1 })
    },
  },
  {
    name: 'each on its own, again the same, and what it cannot be done to is told (8.3)',
    run: async (fixture) => {
      const { store, enqueueOne, name, unchanged } = fixture
      const [a, b, c] = (await deadOnes(fixture, {}, {}, {})) as [string, string, string]
      const queued = await enqueueOne({ delayMs: 60_000 })
      const as = name('as')
      await replayOne(fixture, b, as)
      const ids = [c, queued, b, name('nobody'), a, c]
      const expected = {
        results: [
          { kind: 'discarded' },
          { kind: 'refused', state: 'queued', replayedAs: null },
          { kind: 'refused', state: 'failed', replayedAs: as },
          { kind: 'missing' },
          { kind: 'discarded' },
          { kind: 'discarded' },
        ],
      }
      assert.deepEqual(await store.deadLetters.discard({ ids }), expected)
      assert.deepEqual(await unchanged([a, b, c, queued], () => store.deadLetters.discard({ ids })), expected)
      assert.deepEqual(await store.deadLetters.discard({ ids: [] }), { results: [] })
      const many = Array.from({ length: 1_001 }, (_, n) => `${n}`)
      await assert.rejects(store.deadLetters.discard({ ids: many }), { code: 'INVALID_ARGUMENT' })
    },
  },
  {
    name: 'of a discard and a replay at once one applies',
    run: async (fixture) => {
      const { store, get, name } = fixture
      for (let n = 0; n < 4; n++) {
        const id = await dead(fixture)
        const drop = (): Promise<unknown> => store.deadLetters.discard({ ids: [id] })
        const again = (): Promise<unknown> => replayOne(fixture, id, name('as'))
        await Promise.all(n % 2 ? [drop(), again()] : [again(), drop()])
        const { deadAtMs, replayedAs, events } = await get(id)
        assert.equal(deadAtMs, null)
        const kinds = events.slice(1).map(({ kind }) => kind)
        assert.deepEqual(kinds, [replayedAs === null ? 'discarded' : 'replayed'])
      }
    },
  },
]

export const deadLetterCases: readonly Case[] = [...listCases, ...replayCases, ...discardCases]
