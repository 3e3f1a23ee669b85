import assert from 'node:assert/strict'
import type { Fenced } from '../../engine/ports/store.ts'
import type { Case } from './case.ts'
import { type Fixture, assertChanged, assertWithin, failure, shortMs, succeeded } from './fixture.ts'
import { inputs, names } from './hostile.ts'

type Note = (fixture: Fixture, id: string, epoch: number) => Promise<Fenced>
const progress: Note = ({ store }, id, epoch) =>
  store.jobs.progress({ id, epoch, percent: 40, phase: 'late' })
const checkpoint: Note = ({ store }, id, epoch) =>
  store.jobs.checkpoint({ id, epoch, key: 'at', value: '"late"' })

const fenced: readonly Case[] = [
  ['progress', progress] as const,
  ['a checkpoint', checkpoint] as const,
].flatMap(([what, note]): Case[] => {
  const refused = async (fixture: Fixture, id: string, epochs: readonly number[]): Promise<void> => {
    for (const epoch of epochs) {
      const reply = await fixture.unchanged([id], () => note(fixture, id, epoch))
      assert.deepEqual(reply, { applied: false })
    }
  }
  return [
    {
      name: `${what} of a job that is missing, queued or ended is refused, whatever the epoch (0.13, 0.24)`,
      run: async (fixture) => {
        const { enqueue, claim, settle, store, name } = fixture
        const ids = (await enqueue({}, {}, {})) as [string, string, string]
        await claim()
        await settle(ids[0], 1, succeeded)
        await settle(ids[1], 1, failure({ permanent: true }))
        await settle(ids[2], 1, failure())
        const [fresh, undispatched] = (await enqueue({}, { undispatched: true })) as [string, string]
        await store.jobs.requestCancel({ id: fresh })
        for (const id of [...ids, fresh, undispatched, name('nobody')]) await refused(fixture, id, [0, 1, 2])
      },
    },
    {
      name: `${what} of an evicted holder is refused, before the next claim and after it (0.13, E01)`,
      run: async (fixture) => {
        const { start, seen, reclaim, claim, name } = fixture
        const { id, epoch } = await start({ leaseTtlMs: shortMs })
        assert.deepEqual(await note(fixture, id, epoch), { applied: true })
        await seen(shortMs)
        await reclaim()
        await refused(fixture, id, [1, 2])
        await claim({ worker: name('worker') })
        await refused(fixture, id, [1, 2, 4])
        assert.deepEqual(await note(fixture, id, 3), { applied: true })
      },
    },
    {
      name: `${what} of a job that was asked to end still applies: it runs until it is settled (6.1)`,
      run: async (fixture) => {
        const { id, epoch } = await fixture.start()
        await fixture.store.jobs.requestCancel({ id })
        assert.deepEqual(await note(fixture, id, epoch), { applied: true })
      },
    },
    {
      name: `${what} keeps the claim and its lease as they are (0.10)`,
      run: async (fixture) => {
        const { id, token, epoch } = await fixture.start()
        await note(fixture, id, epoch)
        const { worker, store } = fixture
        const { held } = await store.claims.renew({ worker, tokens: [token] })
        assert.deepEqual(held, [{ id, epoch, cancel: false }])
        assert.deepEqual(await fixture.settle(id, epoch, succeeded), {
          settled: 'applied',
          state: 'succeeded',
        })
      },
    },
  ]
})

const progressCases: readonly Case[] = [
  {
    name: 'progress is kept with its phase, replaces what was said before, and writes nothing else (0.24)',
    run: async ({ store, start, get, now }) => {
      const { id, epoch } = await start()
      for (const said of [
        { percent: 0, phase: null },
        { percent: 33.333_333_333_333_336, phase: 'copying' },
        { percent: 100, phase: '' },
        { percent: 5e-324, phase: null },
      ]) {
        const before = await get(id)
        const fromMs = await now()
        assert.deepEqual(await store.jobs.progress({ id, epoch, ...said }), { applied: true })
        const after = await get(id)
        assertWithin(after.updatedAtMs, fromMs, await now())
        assertChanged(after, before, { progress: said, updatedAtMs: after.updatedAtMs })
      }
    },
  },
  {
    name: 'it stays with the job that ended or came back; the next attempt begins without (0.24)',
    run: async ({ store, enqueue, claim, settle, get }) => {
      const [a, b] = (await enqueue({}, {})) as [string, string]
      await claim()
      const said = { percent: 50, phase: 'half' }
      for (const id of [a, b]) await store.jobs.progress({ id, epoch: 1, ...said })
      await settle(a, 1, succeeded)
      await settle(b, 1, failure())
      for (const id of [a, b]) assert.deepEqual((await get(id)).progress, said)
      await claim()
      assert.equal((await get(b)).progress, null)
    },
  },
  {
    name: 'a phase of any text survives unchanged (X01)',
    run: async ({ store, start, get }) => {
      const { id, epoch } = await start()
      for (const phase of names) {
        await store.jobs.progress({ id, epoch, percent: 1, phase })
        assert.deepEqual((await get(id)).progress, { percent: 1, phase })
      }
    },
  },
]

const checkpointCases: readonly Case[] = [
  {
    name: 'a checkpoint is kept under its key, the last value counts, and the job row is not written (0.24)',
    run: async ({ store, start, get }) => {
      const { id, epoch } = await start()
      const before = await get(id)
      assert.deepEqual(await store.jobs.checkpoints({ id }), [])
      for (const [key, value] of [
        ['b', '1'],
        ['a', 'null'],
        ['b', '{"n":2}'],
        ['b', '{"n":2}'],
      ] as const) {
        assert.deepEqual(await store.jobs.checkpoint({ id, epoch, key, value }), { applied: true })
      }
      assert.deepEqual(await store.jobs.checkpoints({ id }), [
        { key: 'a', value: 'null' },
        { key: 'b', value: '{"n":2}' },
      ])
      assert.deepEqual(await get(id), before)
    },
  },
  {
    name: 'checkpoints survive failures, releases, evictions and the end (0.24)',
    run: async ({ store, start, settle, claim, seen, reclaim }) => {
      const { id } = await start({ leaseTtlMs: shortMs })
      const keep = (epoch: number): Promise<Fenced> =>
        store.jobs.checkpoint({ id, epoch, key: `of ${epoch}`, value: `${epoch}` })
      await keep(1)
      await settle(id, 1, failure())
      await claim()
      await keep(2)
      await seen(shortMs)
      await reclaim()
      await claim()
      await keep(4)
      await settle(id, 4, succeeded)
      assert.deepEqual(
        await store.jobs.checkpoints({ id }),
        [1, 2, 4].map((epoch) => ({ key: `of ${epoch}`, value: `${epoch}` })),
      )
    },
  },
  {
    name: 'each job has its own, and a job that is not there has none (0.24)',
    run: async ({ store, enqueue, claim, name }) => {
      const ids = (await enqueue({}, {}, {})) as [string, string, string]
      await claim()
      for (const id of ids.slice(0, 2)) {
        await store.jobs.checkpoint({ id, epoch: 1, key: 'whose', value: JSON.stringify(id) })
      }
      const read = await Promise.all([...ids, name('nobody')].map((id) => store.jobs.checkpoints({ id })))
      const own = (id: string): unknown => [{ key: 'whose', value: JSON.stringify(id) }]
      assert.deepEqual(read, [own(ids[0]), own(ids[1]), [], []])
    },
  },
  {
    name: 'they come in the order of the UTF-8 bytes of their keys, in a dump too (1.7)',
    run: async ({ store, start, inspectable }) => {
      const { id, epoch } = await start()
      const inOrder = ['\u0001', '10', '9', 'B', 'a', 'b', 'e\u0301', '~', 'é', '日', '\uFFFD', '😀']
      for (const key of [...inOrder].reverse()) {
        await store.jobs.checkpoint({ id, epoch, key, value: '0' })
      }
      const read = await store.jobs.checkpoints({ id })
      assert.deepEqual(
        read.map(({ key }) => key),
        inOrder,
      )
      if (!('dump' in store)) return
      const dumped = (await inspectable().dump()).checkpoints.filter((row) => row.id === id)
      assert.deepEqual(
        dumped,
        read.map((row) => ({ id, ...row })),
      )
    },
  },
  {
    name: 'keys that look alike are different, and values of any text survive unchanged (1.6, X01)',
    run: async ({ store, start }) => {
      const { id, epoch } = await start()
      const values = Object.values(inputs)
      const expected = new Map<string, string>()
      for (const [n, key] of names.entries()) {
        const value = values[n % values.length] as string
        expected.set(key, value)
        await store.jobs.checkpoint({ id, epoch, key, value })
      }
      const read = await store.jobs.checkpoints({ id })
      assert.deepEqual(new Map(read.map(({ key, value }) => [key, value])), expected)
    },
  },
  {
    name: 'a value of one mebibyte, and a key of 512 characters (1.7)',
    run: async ({ store, start }) => {
      const { id, epoch } = await start()
      const [key, value] = ['€'.repeat(512), JSON.stringify('0123456789abcdé\u0007'.repeat(60_000))]
      await store.jobs.checkpoint({ id, epoch, key, value })
      const [kept] = await store.jobs.checkpoints({ id })
      assert.ok(kept?.key === key && kept.value === value)
    },
  },
]

export const noteCases: readonly Case[] = [...fenced, ...progressCases, ...checkpointCases]
