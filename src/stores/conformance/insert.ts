import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { assertWithin, succeeded } from './fixture.ts'

/** Pairs of inputs that mean different things, however close they look. */
const different: readonly (readonly [string, string])[] = [
  ['[1,2]', '[2,1]'],
  ['{"a":null}', '{}'],
  ['1', '"1"'],
  ['true', '1'],
  ['null', '{}'],
  ['{"a":{"b":1}}', '{"a":{"b":2}}'],
  ['{"__proto__":1}', '{}'],
  ['{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}'],
  ['"\\u0000"', '""'],
  ['"\\ud800"', '"\\ufffd"'],
]

export const insertCases: readonly Case[] = [
  {
    name: 'a new job is queued, at version 1 and epoch 0, with nothing charged (0.4, 1.11)',
    run: async ({ store, newJob, name, now, get }) => {
      const job = newJob({ input: '{"b":1,"a":[2]}' })
      const fromMs = await now()
      await store.jobs.insert({ insertId: name('insert'), jobs: [job] })
      const record = await get(job.spec.id)
      assertWithin(record.createdAtMs, fromMs, await now())
      const { createdAtMs, seq } = record
      assert.deepEqual(record, {
        spec: job.spec,
        state: 'queued',
        epoch: 0,
        attempt: 0,
        failures: 0,
        evictions: 0,
        version: 1,
        seq,
        visibleAtMs: createdAtMs,
        token: null,
        claimedAtMs: null,
        createdAtMs,
        updatedAtMs: createdAtMs,
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
    },
  },
  {
    name: "a delay counts from the database's now; an instant given on purpose is kept (0.1, 0.11)",
    run: async ({ enqueue, get }) => {
      const [delayed, fixed] = await enqueue({ delayMs: 86_400_000 }, { atMs: 1_234_567_890_123 })
      const { visibleAtMs, createdAtMs } = await get(delayed as string)
      assert.equal(visibleAtMs, createdAtMs + 86_400_000)
      assert.equal((await get(fixed as string)).visibleAtMs, 1_234_567_890_123)
    },
  },
  {
    name: 'there is no job under an unknown id (1.11)',
    run: async ({ store, name }) => assert.equal(await store.jobs.get({ id: name('nobody') }), null),
  },
  {
    name: 'an empty insert inserts nothing (0.17)',
    run: async ({ store, name }) => {
      const reply = await store.jobs.insert({ insertId: name('insert'), jobs: [] })
      assert.deepEqual(reply, { kind: 'inserted', jobs: [] })
    },
  },
  {
    name: 'the same id, kind and input answers the job that is there, whatever else it states (0.17)',
    run: async ({ store, name, enqueueOne, newJob, unchanged }) => {
      const id = await enqueueOne({ input: '{"a":1}' })
      const again = newJob({
        id,
        input: '{"a":1}',
        queue: name('queue'),
        band: 0,
        delayMs: 99,
        maxAttempts: 9,
      })
      const reply = await unchanged([id], () =>
        store.jobs.insert({ insertId: name('insert'), jobs: [again] }),
      )
      assert.deepEqual(reply, { kind: 'inserted', jobs: [{ id, created: false }] })
    },
  },
  {
    name: 'the order of keys, at any depth, makes no other input (0.17)',
    run: async ({ store, name, enqueueOne, newJob, get }) => {
      const input = '{"a":1,"b":{"c":[{"x":1,"y":2}],"d":"é"}}'
      const id = await enqueueOne({ input })
      const again = newJob({ id, input: '{"b":{"d":"\\u00e9","c":[{"y":2,"x":1}]},"a":1}' })
      const reply = await store.jobs.insert({ insertId: name('insert'), jobs: [again] })
      assert.deepEqual(reply, { kind: 'inserted', jobs: [{ id, created: false }] })
      assert.equal((await get(id)).spec.input, input)
    },
  },
  {
    name: 'another kind is a conflict, and none of its neighbours is inserted (0.16, 0.17)',
    run: async ({ store, name, enqueueOne, newJob, unchanged }) => {
      const taken = await enqueueOne()
      const jobs = [newJob(), newJob({ id: taken, kind: name('kind') }), newJob()]
      const ids = jobs.map(({ spec }) => spec.id)
      const reply = await unchanged(ids, () => store.jobs.insert({ insertId: name('insert'), jobs }))
      assert.deepEqual(reply, { kind: 'conflict', ids: [taken] })
    },
  },
  {
    name: 'another input is a conflict; all ids in conflict are named, in the order given (0.17)',
    run: async ({ store, name, enqueue, newJob, unchanged }) => {
      const ids = await enqueue(...different.map(([input]) => ({ input })))
      const jobs = different.map(([, input], n) => newJob({ id: ids[n] as string, input })).reverse()
      jobs.splice(1, 0, newJob())
      const reply = await unchanged(ids, () => store.jobs.insert({ insertId: name('insert'), jobs }))
      assert.deepEqual(reply, { kind: 'conflict', ids: [...ids].reverse() })
    },
  },
  {
    name: 'a repeat of the same call answers created, also when the job has run since (0.17, 8.3, E09)',
    run: async ({ store, name, newJob, claim, settle, unchanged }) => {
      const params = { insertId: name('insert'), jobs: [newJob(), newJob()] }
      const first = await store.jobs.insert(params)
      const ids = params.jobs.map(({ spec }) => spec.id)
      assert.deepEqual(await unchanged(ids, () => store.jobs.insert(params)), first)
      const { jobs } = await claim()
      for (const { spec, epoch } of jobs) await settle(spec.id, epoch, succeeded)
      assert.deepEqual(await unchanged(ids, () => store.jobs.insert(params)), first)
    },
  },
  {
    name: 'a call of old and new jobs answers in the order given (0.17)',
    run: async ({ store, name, enqueue, newJob }) => {
      const [a, b] = (await enqueue({}, {})) as [string, string]
      const jobs = [newJob(), newJob({ id: b }), newJob(), newJob({ id: a })]
      const reply = await store.jobs.insert({ insertId: name('insert'), jobs })
      const expected = jobs.map(({ spec }) => ({ id: spec.id, created: spec.id !== a && spec.id !== b }))
      assert.deepEqual(reply, { kind: 'inserted', jobs: expected })
    },
  },
  {
    name: 'of eight producers that race for one id, one creates the job (1.11)',
    run: async ({ store, name, newJob, get }) => {
      const job = newJob()
      const race = Array.from({ length: 8 }, () =>
        store.jobs.insert({ insertId: name('insert'), jobs: [job] }),
      )
      const jobs = (await Promise.all(race)).flatMap((reply) => (reply.kind === 'inserted' ? reply.jobs : []))
      assert.deepEqual(
        jobs.map(({ id }) => id),
        race.map(() => job.spec.id),
      )
      assert.equal(jobs.filter(({ created }) => created).length, 1)
      assert.equal((await get(job.spec.id)).version, 1)
    },
  },
  {
    name: 'of eight producers that race with different inputs, one inserts and the others learn of it (0.17)',
    run: async ({ store, name, newJob, get }) => {
      const id = name('job')
      const race = Array.from({ length: 8 }, async (_, n) => {
        const jobs = [newJob({ id, input: `${n}` }), newJob({ id: `${id}+${n}` })]
        const reply = await store.jobs.insert({ insertId: name('insert'), jobs })
        const neighbour = await store.jobs.get({ id: `${id}+${n}` })
        assert.equal(neighbour !== null, reply.kind === 'inserted', 'all or none')
        if (reply.kind === 'conflict') assert.deepEqual(reply.ids, [id])
        else assert.equal((await get(id)).spec.input, `${n}`)
        return reply.kind
      })
      const kinds = await Promise.all(race)
      assert.equal(kinds.filter((kind) => kind === 'inserted').length, 1)
    },
  },
  {
    name: 'two producers that insert the same jobs in opposite order do not block each other (0.16)',
    run: async ({ store, name, newJob }) => {
      const jobs = Array.from({ length: 10 }, () => newJob())
      const [one, other] = await Promise.all([
        store.jobs.insert({ insertId: name('insert'), jobs }),
        store.jobs.insert({ insertId: name('insert'), jobs: [...jobs].reverse() }),
      ])
      assert.ok(one.kind === 'inserted' && other.kind === 'inserted')
      const created = [...one.jobs, ...other.jobs].filter((job) => job.created).map(({ id }) => id)
      assert.deepEqual(created.sort(), jobs.map(({ spec }) => spec.id).sort())
    },
  },
]
