// What the PostgreSQL store tells those who listen: once a batch, when the batch has committed, within the 8000 bytes.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { InspectableStore, InsertParams, NewJob } from '../../src/engine/ports/store.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { payloadOf, queuesOf } from '../../src/stores/postgres/wake.ts'
import { inserting } from '../support/inserting.ts'
import { newDatabase } from '../support/postgres/database.ts'

let database: Awaited<ReturnType<typeof newDatabase>>
let store: InspectableStore
let listener: pg.Client
let told: (string | undefined)[] = []
let names = 0

beforeAll(async () => {
  database = await newDatabase()
  store = postgresStore({ connectionString: database.url })
  await store.migrate()
  listener = new pg.Client({ connectionString: database.url })
  await listener.connect()
  listener.on('notification', ({ payload }) => void told.push(payload))
  await listener.query('listen holdfast_wake')
})

afterAll(async () => {
  await listener.end()
  await store.close()
  await database.drop()
})

/** What was told during the call: all of it has come when a statement after it is answered. */
async function toldBy(call: () => Promise<unknown>): Promise<(string | undefined)[]> {
  await listener.query('select 1')
  told = []
  await call()
  await listener.query('select 1')
  return told
}

const id = (): string => `job-${++names}`

function batch(...jobs: { queue?: string; due?: NewJob['due'] }[]): InsertParams {
  const made = jobs.map(({ queue = 'q', due = { delayMs: 0 } }) => {
    const [{ spec }] = inserting(id()).jobs as readonly [NewJob]
    return { spec: { ...spec, queue }, due }
  })
  return { insertId: id(), jobs: made }
}

async function claimed(...queues: string[]): Promise<readonly { id: string; epoch: number }[]> {
  await store.jobs.insert(batch(...queues.map((queue) => ({ queue }))))
  const asked = [...new Set(queues)].map((queue) => ({ queue, limit: 100 }))
  const params = { token: id(), worker: 'w', limit: 100, queues: asked, kinds: ['k'], solo: 'pass' } as const
  const reply = await store.claims.claim(params)
  return reply.kind === 'void' ? [] : reply.jobs.map(({ spec, epoch }) => ({ id: spec.id, epoch }))
}

function settle(
  jobs: readonly { id: string; epoch: number }[],
  outcome: Parameters<InspectableStore['jobs']['settle']>[0]['settlements'][0]['outcome'],
) {
  const settlements = jobs.map((job) => ({ ...job, outcome, repeated: false }))
  return () => store.jobs.settle({ worker: 'w', settlements })
}

describe('a hint', () => {
  test('is sent once by an insert of what is due now, with its queues', async () => {
    expect(await toldBy(() => store.jobs.insert(batch({})))).toEqual(['["q"]'])
    const several = batch({ queue: 'a' }, { queue: 'b' }, { queue: 'a' }, { due: { delayMs: 1 } })
    expect(await toldBy(() => store.jobs.insert(several))).toEqual(['["a","b"]'])
  })

  test('is not sent by one of what is due later, or is not inserted', async () => {
    const later = batch({ due: { delayMs: 60_000 } }, { due: { undispatched: true } })
    expect(await toldBy(() => store.jobs.insert(later))).toEqual([])
    const [taken] = batch({}).jobs as readonly [NewJob]
    await store.jobs.insert({ insertId: id(), jobs: [taken] })
    const clash = { ...taken, spec: { ...taken.spec, kind: 'another' } }
    const refused = { insertId: id(), jobs: [...batch({}).jobs, clash] }
    expect(await toldBy(() => store.jobs.insert(refused))).toEqual([])
    const clashFirst = { insertId: id(), jobs: [clash, ...batch({}).jobs] }
    expect(await toldBy(() => store.jobs.insert(clashFirst))).toEqual([])
    expect(await toldBy(() => store.jobs.insert({ insertId: id(), jobs: [taken, taken] }))).toEqual([])
  })

  test('is sent once by a settle that gives jobs back at once, and by no other', async () => {
    const back = await claimed('a', 'b', 'a')
    expect(await toldBy(settle(back, { kind: 'released', delayMs: 0 }))).toEqual(['["a", "b"]'])
    const late = await claimed('c')
    expect(await toldBy(settle(late, { kind: 'released', delayMs: 9_000 }))).toEqual([])
    const done = await claimed('d')
    expect(await toldBy(settle(done, { kind: 'succeeded', result: null }))).toEqual([])
  })

  test('is sent by a retry, by a reschedule to now and by a repair', async () => {
    const { jobs } = batch({ queue: 'e', due: { delayMs: 60_000 } })
    await store.jobs.insert({ insertId: id(), jobs })
    const one = { id: jobs[0]?.spec.id ?? '', command: 'later', version: 1 }
    expect(await toldBy(() => store.jobs.reschedule({ ...one, delayMs: 9_000 }))).toEqual([])
    const now = { ...one, command: 'now', version: 2, delayMs: 0 }
    expect(await toldBy(() => store.jobs.reschedule(now))).toEqual(['["e"]'])
    await store.jobs.requestCancel(one)
    const again = { ...one, command: 'again', version: 4 }
    expect(await toldBy(() => store.jobs.retry(again))).toEqual(['["e"]'])
    expect(await toldBy(() => store.jobs.repairDispatch({ limit: 9, olderMs: 0 }))).toEqual(['["q"]'])
  })

  test('is sent by a replay of dead letters, once for all of them, and not if none was made', async () => {
    const dead = await claimed('h', 'i', 'h')
    const error = { code: 'E', message: 'm' }
    await settle(dead, { kind: 'failed', error, permanent: true, delayMs: 0 })()
    const replays = dead.map((job) => ({ id: job.id, as: `${job.id}~r1` }))
    const replay = (): Promise<unknown> => store.deadLetters.replay({ command: id(), replays })
    expect(await toldBy(replay)).toEqual(['["h", "i"]'])
    expect(await toldBy(replay)).toEqual([])
  })

  test('is not sent by a store that is told not to', async () => {
    const silent = postgresStore({ connectionString: database.url }, { notify: false })
    expect(silent.hints).toBe(undefined)
    expect(await toldBy(() => silent.jobs.insert(batch({})))).toEqual([])
    await silent.close()
  })
})

describe('the bound of 8000 bytes (S10)', () => {
  test('has nothing to do with the size of an input, nor with that of one name', async () => {
    const emoji = '\u{1F6A8}'
    const inputs = [1, 7_999, 8_000, 1_048_576].map((bytes) =>
      bytes === 1 ? '1' : `"${'x'.repeat(bytes - 2)}"`,
    )
    for (const input of [...inputs, JSON.stringify(emoji.repeat(2_000))]) {
      const insert = inserting(id(), input)
      expect(await toldBy(() => store.jobs.insert(insert))).toEqual(['["q"]'])
    }
    for (const queue of ['q'.repeat(63), 'q'.repeat(64), 'ä'.repeat(512), emoji.repeat(256)]) {
      const [told] = await toldBy(() => store.jobs.insert(batch({ queue })))
      expect(queuesOf(told ?? '')).toEqual([queue])
    }
  })

  const long = (count: number): string[] =>
    Array.from({ length: count }, (_, n) => `${n}`.padStart(2, '0') + '\u{1F6A8}'.repeat(255))

  test('never stands in the way of an enqueue or a settle: over it, the hint says any queue', async () => {
    const queues = long(9)
    const jobs = await claimed(...queues)
    expect(jobs).toHaveLength(9)
    expect(await toldBy(settle(jobs, { kind: 'released', delayMs: 0 }))).toEqual([''])
    const inserted = () => store.jobs.insert(batch(...queues.map((queue) => ({ queue }))))
    expect(await toldBy(inserted)).toEqual([''])
    const [fits] = await toldBy(() => store.jobs.insert(batch({ queue: queues[0] ?? '' })))
    expect(queuesOf(fits ?? '')).toEqual(queues.slice(0, 1))
  })

  test.each([
    ['a'.repeat(7_995), 7_999],
    ['a'.repeat(7_996), 0],
    ['\u{1F6A8}'.repeat(1_998), 7_996],
    ['\u{1F6A8}'.repeat(1_999), 0],
  ])('counts bytes, not characters (%#)', async (queue, bytes) => {
    const payload = payloadOf([queue]) ?? ''
    expect(Buffer.byteLength(payload)).toBe(bytes)
    await listener.query('select pg_notify($1, $2)', ['elsewhere', payload])
  })

  test.each(['', 'null', '{}', '[1]', '{"of": "a later release"}', '["a"'])(
    'what is no list of names means any queue: %s',
    (payload) => {
      expect(queuesOf(payload)).toBe(null)
    },
  )
})
