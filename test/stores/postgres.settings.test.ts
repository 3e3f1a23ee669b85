// Numbers beyond what JavaScript counts, times that never come, and databases that write dates as nobody else does
// (S07): the course of a store is the same on all of them.
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { InspectableStore, NewJob } from '../../src/engine/ports/store.ts'
import type { OpenStore } from '../../src/stores/conformance/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { inserting } from '../support/inserting.ts'
import { newDatabase } from '../support/postgres/database.ts'
import { type MovedServer, movedServer } from '../support/postgres/moved.ts'

const queues = [{ queue: 'q', limit: 9 }]
const claiming = { worker: 'w', limit: 9, queues, kinds: ['k'] } as const
const jobsOf = async (
  store: InspectableStore,
  token: string,
  solo: 'take' | 'pass' = 'pass',
): Promise<{ id: string; epoch: number }[]> => {
  const reply = await store.claims.claim({ ...claiming, token, solo })
  return reply.kind === 'claimed' ? reply.jobs.map(({ spec, epoch }) => ({ id: spec.id, epoch })) : []
}

describe('sequences beyond 2^53', () => {
  let database: Awaited<ReturnType<typeof newDatabase>>
  let store: InspectableStore
  let admin: pg.Client

  beforeAll(async () => {
    database = await newDatabase()
    admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    store = postgresStore({ connectionString: database.url })
    await store.migrate()
    for (const sequence of ['job_seq', 'claim_seq']) {
      await admin.query(`alter sequence holdfast.${sequence} restart with 9007199254740993`)
    }
  })
  afterAll(async () => {
    await store.close()
    await admin.end()
    await database.drop()
  })

  test('neighbours that are one number in JavaScript are different jobs to every call', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e']
    for (const id of ids) await store.jobs.insert(inserting(id))
    const { rows } = await admin.query<{ seq: string }>('select seq from holdfast.body order by id')
    expect(rows.map(({ seq }) => seq)).toEqual(ids.map((_, n) => String(9_007_199_254_740_993n + BigInt(n))))
    expect((await jobsOf(store, 'first')).map(({ id }) => id)).toEqual(ids)

    const outcome = { kind: 'released', delayMs: 0 } as const
    const settlements = ids.map((id) => ({ id, epoch: 1, outcome, repeated: false }))
    await store.jobs.settle({ worker: 'w', settlements })
    await store.jobs.requestCancel({ id: 'b' })
    for (const id of ids.filter((id) => id !== 'b'))
      expect(await store.jobs.get({ id })).toMatchObject({ state: 'queued' })

    // The way of a claim that looks before it locks, since one is on its last eviction.
    await admin.query(`update holdfast.job set evictions = 2, place = 1
      where seq = (select seq from holdfast.body where id = 'c')`)
    const taken = []
    for (const token of ['before', 'alone', 'after']) taken.push(await jobsOf(store, token, 'take'))
    expect(taken.map((jobs) => jobs.map(({ id }) => id))).toEqual([['a'], ['c'], ['d', 'e']])
    await store.jobs.checkpoint({ id: 'e', epoch: 2, key: 'k', value: '1' })
    expect(await store.jobs.checkpoints({ id: 'd' })).toEqual([])
  })

  test('a snapshot keeps them', async () => {
    const snapshot = await store.snapshot()
    await store.jobs.insert(inserting('f'))
    await store.restore(snapshot)
    await store.jobs.insert(inserting('g'))
    const { rows } = await admin.query<{ seq: string }>(`select seq from holdfast.body where id = 'g'`)
    expect(rows).toEqual([{ seq: '9007199254740998' }])
  })
})

describe('times that never come', () => {
  let database: Awaited<ReturnType<typeof newDatabase>>
  let store: InspectableStore
  const job = defineJob<object>({ name: 'k' })

  beforeAll(async () => {
    database = await newDatabase()
    store = postgresStore({ connectionString: database.url })
    await store.migrate()
  })
  afterAll(async () => {
    await store.close()
    await database.drop()
  })

  test.each([
    { runAt: new Date('infinity') },
    { runAt: new Date(Number.POSITIVE_INFINITY) },
    { runAt: 'infinity' },
    { runAt: Number.POSITIVE_INFINITY },
    { delayMs: Number.POSITIVE_INFINITY },
    { delayMs: 2 ** 53 },
    { timeoutMs: Number.POSITIVE_INFINITY },
    { leaseTtlMs: Number.POSITIVE_INFINITY },
  ])('%j is refused, and nothing is asked of the store', async (options) => {
    let asked = 0
    const insert = (): Promise<never> => Promise.reject(new Error(`asked ${++asked} times`))
    const engine = createEngine({ store: { ...store, jobs: { ...store.jobs, insert } } })
    await expect(engine.enqueue(job, {}, options as never)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect(asked).toBe(0)
  })

  test('the last date that there is comes back as it was, and is not due', async () => {
    const engine = createEngine({ store })
    const runAt = new Date(8_640_000_000_000_000)
    await engine.enqueue(job, {}, { id: 'last', runAt })
    expect(await engine.get('last')).toMatchObject({ visibleAtMs: runAt.getTime(), state: 'queued' })
    expect(await jobsOf(store, 't')).toEqual([])
    expect(await store.jobs.queueAges({ queues: ['default'] })).toEqual([
      { queue: 'default', oldestDueMs: null },
    ])
  })
})

/** What a database can be told about how to write and read, and about transactions. */
const odd: Readonly<Record<string, string>> = {
  timezone: 'America/New_York',
  datestyle: 'SQL, DMY',
  intervalstyle: 'sql_standard',
  extra_float_digits: '-15',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  default_transaction_isolation: 'serializable',
  lc_messages: 'C',
  quote_all_identifiers: 'on',
}

describe('a database that writes dates as nobody else does, in a process of another zone', () => {
  const zone = process.env['TZ']
  let servers: [MovedServer, MovedServer]
  let store: InspectableStore

  beforeAll(async () => {
    servers = [await movedServer(), await movedServer()]
  })
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })
  afterAll(async () => {
    await store.close()
    for (const server of servers) await server.close()
  })

  test('has the same course, to the last digit', async () => {
    const [plain, strange] = servers
    const opened = [await plain.open(), await strange.open()] as const
    const expected = await course(opened[0])

    const name = new URL(strange.url).pathname.slice(1)
    const client = await strange.connect()
    for (const [setting, value] of Object.entries(odd)) {
      await client.query(
        `alter database ${name} set ${setting} to ${setting === 'datestyle' ? value : `'${value}'`}`,
      )
    }
    await client.end()
    process.env['TZ'] = 'Asia/Kolkata'
    expect(new Date(0).getTimezoneOffset()).toBe(-330)
    const look = await strange.connect()
    expect((await look.query('show timezone')).rows).toEqual([{ TimeZone: 'America/New_York' }])
    expect((await look.query('show datestyle')).rows).toEqual([{ DateStyle: 'SQL, DMY' }])
    await look.end()
    store = strange.another()
    await store.migrate()
    expect(await course({ ...opened[1], store })).toEqual(expected)
  })
})

/** A bit of everything that has a time in it; answers all replies and what is stored at the end. */
async function course(opened: OpenStore): Promise<unknown[]> {
  const store = opened.store as InspectableStore
  const advance = async (ms: number): Promise<void> => opened.time?.advance(ms)
  const said: unknown[] = [await store.now(), await store.watch.declare({ sweepMs: 5_000 })]
  for (const id of ['a', 'b', 'c'])
    await store.jobs.insert(inserting(id, String.raw`"\\ ' \" Straße \u0001"`))
  const [later] = inserting('d').jobs as readonly [NewJob]
  await store.jobs.insert({ insertId: 'd', jobs: [{ ...later, due: { atMs: 1_760_000_060_000 } }] })
  said.push(await store.claims.claim({ ...claiming, limit: 2, token: 't', solo: 'take' }))
  await advance(10_001)
  said.push(await store.claims.renew({ worker: 'w', tokens: ['t'] }))
  const failed = { kind: 'failed', error: { message: String.raw`\'` }, delayMs: 1_500, permanent: false }
  said.push(
    await store.jobs.settle({
      worker: 'w',
      settlements: [{ id: 'a', epoch: 1, outcome: failed as never, repeated: false }],
    }),
  )
  said.push(await store.leases.acquire({ key: 'cron', owner: 'o', ttlMs: 1_000 }))
  said.push(await store.jobs.queueAges({ queues: ['q'] }))
  for (let n = 0; n < 12; n++) {
    await advance(5_000)
    const lastReplyMs = await store.now()
    said.push(await store.watch.move({ lastReplyMs, sinceReplyMs: 0, maxAgeMs: 5_000 }))
    said.push(await store.jobs.reclaim({ limit: 9 }))
  }
  said.push(await store.claims.claim({ ...claiming, token: 'u', solo: 'take' }), await store.dump())
  return said
}
