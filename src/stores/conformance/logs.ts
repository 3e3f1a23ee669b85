import assert from 'node:assert/strict'
import type { LogEntry, LogPage } from '../../engine/ports/logs.ts'
import type { Fenced } from '../../engine/ports/store.ts'
import type { Case } from './case.ts'
import { type Fixture, assertWithin, failure, shortMs, succeeded } from './fixture.ts'
import { names } from './hostile.ts'

const said = (from: number, count = 1, what = 'line'): LogEntry[] =>
  Array.from({ length: count }, (_, k) => ({ line: from + k, level: 'info', text: `${what} ${from + k}` }))

const texts = ({ lines }: LogPage): string[] => lines.map(({ text }) => text)
const counts = ({ lines, total, dropped }: LogPage): unknown => ({
  from: lines[0]?.n ?? null,
  to: lines.at(-1)?.n ?? null,
  total,
  dropped,
})

const append = ({ store }: Fixture, id: string, epoch: number, lines: readonly LogEntry[]): Promise<Fenced> =>
  store.logs.append({ id, epoch, lines })

async function refused(fixture: Fixture, id: string, epochs: readonly number[]): Promise<void> {
  for (const epoch of epochs) {
    const reply = await fixture.unchanged([id], () => append(fixture, id, epoch, said(50)))
    assert.deepEqual(reply, { applied: false })
  }
}

const fence: readonly Case[] = [
  {
    name: 'lines for a job that is missing, queued or ended are refused, whatever the epoch (0.13, E03)',
    run: async (fixture) => {
      const { enqueue, claim, settle, store, name } = fixture
      const ids = (await enqueue({}, {}, {})) as [string, string, string]
      await claim()
      for (const id of ids) await append(fixture, id, 1, said(0))
      await settle(ids[0], 1, succeeded)
      await settle(ids[1], 1, failure({ permanent: true }))
      await settle(ids[2], 1, failure())
      const [fresh, undispatched] = (await enqueue({}, { undispatched: true })) as [string, string]
      await store.jobs.requestCancel({ id: fresh })
      for (const id of [...ids, fresh, undispatched, name('nobody')]) await refused(fixture, id, [0, 1, 2])
    },
  },
  {
    name: 'lines of an evicted holder are refused, before the next claim and after it (0.13, E03)',
    run: async (fixture) => {
      const { start, seen, reclaim, claim, name, store } = fixture
      const { id, epoch } = await start({ leaseTtlMs: shortMs })
      assert.deepEqual(await append(fixture, id, epoch, said(0)), { applied: true })
      await seen(shortMs)
      await reclaim()
      await refused(fixture, id, [1, 2])
      await claim({ worker: name('worker') })
      await refused(fixture, id, [1, 2, 4])
      assert.deepEqual(await append(fixture, id, 3, said(0)), { applied: true })
      assert.deepEqual(
        (await store.logs.tail({ id, limit: 9 })).lines.map(({ n, epoch: of }) => [n, of]),
        [
          [0, 1],
          [1, 3],
        ],
      )
    },
  },
  {
    name: 'a job that was asked to end still says what it does, until it is settled (6.1)',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start()
      await fixture.store.jobs.requestCancel({ id })
      assert.deepEqual(await append(fixture, id, epoch, said(0)), { applied: true })
    },
  },
  {
    name: 'an append writes neither the row of the job nor its claim and lease (0.10, 0.14)',
    run: async (fixture) => {
      const { store, worker, start, get, settle } = fixture
      const { id, token, epoch } = await start()
      const before = await get(id)
      await append(fixture, id, epoch, said(0))
      assert.deepEqual(await get(id), before)
      const { held } = await store.claims.renew({ worker, tokens: [token] })
      assert.deepEqual(held, [{ id, epoch, cancel: false }])
      assert.deepEqual(await settle(id, epoch, succeeded), { settled: 'applied', state: 'succeeded' })
    },
  },
]

const identity: readonly Case[] = [
  {
    name: 'a line is (epoch, line): a repeat appends nothing, an overlap what is new, a late batch nothing (13.3, 27.67)',
    run: async (fixture) => {
      const { store, start } = fixture
      const { id, epoch } = await start()
      for (const [from, count] of [
        [0, 3],
        [0, 3],
        [1, 4],
        [2, 1],
        [7, 2],
        [5, 2],
      ] as const) {
        assert.deepEqual(await append(fixture, id, epoch, said(from, count)), { applied: true })
      }
      const page = await store.logs.page({ id, from: 0, limit: 99 })
      assert.deepEqual(
        texts(page),
        [0, 1, 2, 3, 4, 7, 8].map((n) => `line ${n}`),
      )
      assert.deepEqual(counts(page), { from: 0, to: 6, total: 7, dropped: 0 })
    },
  },
  {
    name: 'the next attempt counts its own lines, and the sequence of the job goes on (13.1)',
    run: async (fixture) => {
      const { store, start, settle, claim } = fixture
      const { id } = await start()
      await append(fixture, id, 1, said(0, 3, 'first'))
      await settle(id, 1, failure())
      await claim()
      await append(fixture, id, 2, said(0, 2, 'second'))
      await append(fixture, id, 2, said(0, 2, 'second'))
      const { lines } = await store.logs.tail({ id, limit: 9 })
      assert.deepEqual(
        lines.map(({ n, epoch, text }) => [n, epoch, text]),
        [
          [0, 1, 'first 0'],
          [1, 1, 'first 1'],
          [2, 1, 'first 2'],
          [3, 2, 'second 0'],
          [4, 2, 'second 1'],
        ],
      )
    },
  },
  {
    name: 'eight deliveries of one batch at once append it once (13.3)',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start()
      const lines = said(0, 20)
      const replies = await Promise.all(Array.from({ length: 8 }, () => append(fixture, id, epoch, lines)))
      for (const reply of replies) assert.deepEqual(reply, { applied: true })
      const page = await fixture.store.logs.page({ id, from: 0, limit: 99 })
      assert.deepEqual(counts(page), { from: 0, to: 19, total: 20, dropped: 0 })
      assert.deepEqual(
        texts(page),
        lines.map(({ text }) => text),
      )
    },
  },
  {
    name: 'a job keeps its last 2,000 lines, numbered as ever; what was trimmed is not appended again (13.2, 13.3)',
    run: async (fixture) => {
      const { store, start, settle, claim, enqueueOne } = fixture
      const { id, epoch } = await start()
      for (let from = 0; from < 2_300; from += 500) await append(fixture, id, epoch, said(from, 500))
      await append(fixture, id, epoch, said(0, 1_000))
      await append(fixture, id, epoch, said(2_499, 2))
      const page = await store.logs.page({ id, from: 0, limit: 1 })
      assert.deepEqual(
        page.lines.map(({ n, text }) => [n, text]),
        [[501, 'line 501']],
      )
      assert.deepEqual([page.total, page.dropped], [2_501, 501])
      await settle(id, epoch, failure())
      const other = await enqueueOne()
      await claim()
      await append(fixture, other, 1, said(0))
      await append(fixture, id, epoch + 1, said(0))
      const tail = await store.logs.tail({ id, limit: 2 })
      assert.deepEqual(counts(tail), { from: 2_500, to: 2_501, total: 2_502, dropped: 502 })
      assert.deepEqual(counts(await store.logs.tail({ id: other, limit: 2 })), {
        from: 0,
        to: 0,
        total: 1,
        dropped: 0,
      })
    },
  },
  {
    name: 'a log survives releases, evictions and the end of its job; a retried job goes on with it (13.5, 27.69)',
    run: async (fixture) => {
      const { store, start, settle, claim, get, name } = fixture
      const { id } = await start()
      await append(fixture, id, 1, said(0))
      await settle(id, 1, { kind: 'released', delayMs: 0 })
      await claim()
      await append(fixture, id, 2, said(0))
      await settle(id, 2, failure({ permanent: true }))
      await store.jobs.retry({ id, version: (await get(id)).version, command: name('command') })
      await claim()
      const { epoch } = await get(id)
      await append(fixture, id, epoch, said(0))
      await settle(id, epoch, succeeded)
      const { lines } = await store.logs.tail({ id, limit: 9 })
      assert.deepEqual(
        lines.map((line) => [line.n, line.epoch]),
        [
          [0, 1],
          [1, 2],
          [2, epoch],
        ],
      )
    },
  },
]

const reading: readonly Case[] = [
  {
    name: 'pages and tails part the log without a gap; a start before what is kept is clamped to it (13.4)',
    run: async (fixture) => {
      const { store, start } = fixture
      const { id, epoch } = await start()
      for (let from = 0; from < 2_010; from += 670) await append(fixture, id, epoch, said(from, 670))
      const page = (from: number, limit: number): Promise<LogPage> => store.logs.page({ id, from, limit })
      const about = { total: 2_010, dropped: 10 }
      assert.deepEqual(counts(await page(0, 3)), { from: 10, to: 12, ...about })
      assert.deepEqual(counts(await page(10, 3)), { from: 10, to: 12, ...about })
      assert.deepEqual(counts(await page(13, 1_000)), { from: 13, to: 1_012, ...about })
      assert.deepEqual(counts(await page(2_008, 1_000)), { from: 2_008, to: 2_009, ...about })
      for (const from of [2_010, 5_000]) {
        assert.deepEqual(counts(await page(from, 5)), { from: null, to: null, ...about })
      }
      const tail = (limit: number): Promise<LogPage> => store.logs.tail({ id, limit })
      assert.deepEqual(counts(await tail(4)), { from: 2_006, to: 2_009, ...about })
      assert.deepEqual(counts(await tail(1_000)), { from: 1_010, to: 2_009, ...about })
      for (const none of [await page(0, 0), await tail(0)]) {
        assert.deepEqual(counts(none), { from: null, to: null, ...about })
      }
    },
  },
  {
    name: 'each job has its own log, and says in what state it is; one that is not there has neither (13.4)',
    run: async (fixture) => {
      const { store, enqueue, enqueueOne, claim, settle, name } = fixture
      const ids = (await enqueue({}, {}, {})) as [string, string, string]
      await claim()
      for (const id of ids.slice(0, 2)) await append(fixture, id, 1, said(0, 1, id))
      await settle(ids[1], 1, succeeded)
      const queued = await enqueueOne()
      for (const [id, state, lines] of [
        [ids[0], 'running', 1],
        [ids[1], 'succeeded', 1],
        [ids[2], 'running', 0],
        [queued, 'queued', 0],
        [name('nobody'), null, 0],
      ] as const) {
        for (const read of [
          await store.logs.tail({ id, limit: 9 }),
          await store.logs.page({ id, from: 0, limit: 9 }),
        ]) {
          assert.deepEqual(texts(read), lines ? [`${id} 0`] : [])
          assert.deepEqual([read.state, read.total, read.dropped], [state, lines, 0])
        }
      }
    },
  },
  {
    name: "a line has its level, its attempt, and the database's time (13.1)",
    run: async (fixture) => {
      const { store, start, now } = fixture
      const { id, epoch } = await start()
      const levels = ['debug', 'info', 'warn', 'error'] as const
      const fromMs = await now()
      await append(
        fixture,
        id,
        epoch,
        levels.map((level, line) => ({ line, level, text: level })),
      )
      const { lines } = await store.logs.tail({ id, limit: 9 })
      const atMs = lines[0]?.atMs ?? null
      assertWithin(atMs, fromMs, await now())
      assert.deepEqual(
        lines,
        levels.map((level, n) => ({ n, atMs, epoch, level, text: level })),
      )
    },
  },
  {
    name: 'a line of any text survives unchanged, of any length up to 4 KiB of UTF-8 (13.2, X01)',
    run: async (fixture) => {
      const { store, start } = fixture
      const { id, epoch } = await start()
      const long = ['x'.repeat(4_096), '€'.repeat(1_365), '😀'.repeat(1_024), '']
      const all = [...names, ...long, `\\u0000 \\ud800 {"a":"b"} \u001B[31m\r\n '; drop table jobs; -- $1 ?`]
      await append(
        fixture,
        id,
        epoch,
        all.map((text, line) => ({ line, level: 'info', text })),
      )
      assert.deepEqual(texts(await store.logs.page({ id, from: 0, limit: 1_000 })), all)
    },
  },
  {
    name: 'what no log can hold is refused, and nothing of its batch is kept (13.2, X01)',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start()
      const line = (text: string, at = 1): LogEntry => ({ line: at, level: 'info', text })
      const bad: readonly (readonly LogEntry[])[] = [
        [],
        said(0, 1_001),
        [...said(0), line('x'.repeat(4_097))],
        [...said(0), line('é'.repeat(2_049))],
        [...said(0), line('a\0b')],
        [...said(0), line('\uD800')],
        [...said(0), line('twice', 0)],
        [line('before', -1)],
        [line('between', 0.5)],
      ]
      for (const lines of bad) {
        await fixture.unchanged([id], () =>
          assert.rejects(async () => append(fixture, id, epoch, lines), { code: 'INVALID_ARGUMENT' }),
        )
      }
    },
  },
]

export const logCases: readonly Case[] = [...fence, ...identity, ...reading]
