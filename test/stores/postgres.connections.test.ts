// Connections that break, are refused, freeze or end in the middle of a transaction: what the caller is told, and that
// the next call works.
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { InspectableStore, InsertParams } from '../../src/engine/ports/store.ts'
import { type PostgresOptions, postgresStore } from '../../src/stores/postgres/index.ts'
import { failure } from '../support/bench.ts'
import { inserting } from '../support/inserting.ts'
import { newDatabase } from '../support/postgres/database.ts'
import { type Proxy, createProxy } from '../support/postgres/proxy.ts'

let database: Awaited<ReturnType<typeof newDatabase>>
let admin: pg.Client
/** Locks what others then wait for. Within its transaction it would always see the same activity. */
let locker: pg.Client
let proxy: Proxy
let stores: InspectableStore[]
let names = 0

beforeAll(async () => {
  database = await newDatabase()
  admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  locker = new pg.Client({ connectionString: database.url })
  await locker.connect()
  const store = postgresStore({ connectionString: database.url })
  await store.migrate()
  await store.jobs.insert(there)
  await store.close()
})

afterAll(async () => {
  await locker.end()
  await admin.end()
  await database.drop()
})

beforeEach(async () => {
  stores = []
  proxy = await createProxy(database.url)
})

afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await proxy.close()
})

function open(options: PostgresOptions = {}, url = proxy.url): InspectableStore {
  const store = postgresStore({ connectionString: url }, options)
  stores.push(store)
  return store
}

const pooled = (): string => `${proxy.url}?options=${encodeURIComponent('-c application_name=pooler')}`
const unavailable = (sent: 'no' | 'maybe'): object => ({ code: 'STORE_UNAVAILABLE', sent })
const id = (): string => `job-${++names}`

/** Several jobs of which one is there already are a transaction. */
function two(): InsertParams {
  const fresh = inserting(id())
  return { insertId: fresh.insertId, jobs: [...there.jobs, ...fresh.jobs] }
}
const there = inserting('there')
const inserted = { kind: 'inserted', jobs: [{ created: false }, { created: true }] }

function claiming(token: string) {
  return {
    token,
    worker: 'w',
    limit: 9,
    queues: [{ queue: 'none', limit: 9 }],
    kinds: ['k'],
    solo: 'take',
  } as const
}

/** As many calls at once as there are connections, and one more; none of them in a transaction of somebody else. */
async function serves(store: InspectableStore, connections: number): Promise<void> {
  const calls = Array.from({ length: connections + 1 }, () => store.jobs.insert(two()))
  expect(await Promise.all(calls)).toMatchObject(calls.map(() => inserted))
  const { rows } = await admin.query(`select count(*)::int as stuck from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'`)
  expect(rows).toEqual([{ stuck: 0 }])
}

describe('what is known of a call that failed', () => {
  test('that its connection was refused: it was not sent', async () => {
    const lost: Error[] = []
    const store = open({ callMs: 300, onConnectionLost: (error) => void lost.push(error) })
    await store.now()
    await proxy.refuse()
    await expect.poll(() => lost.length).toBe(1)
    await expect(store.claims.claim(claiming('a'))).rejects.toMatchObject(unavailable('no'))
    await proxy.accept()
    expect(await store.claims.claim(claiming('b'))).toMatchObject({ kind: 'claimed' })
  })

  test.each(['reset', 'end'] as const)('that its connection broke (%s): maybe it was', async (breaks) => {
    const store = open()
    await store.now()
    proxy.breaks = breaks
    const held = proxy.next('hold-reply', 'holdfast.claim')
    const call = store.claims.claim(claiming('cut'))
    const failed = failure(call)
    await held
    proxy.cut()
    expect(await failed).toMatchObject({ ...unavailable('maybe'), reason: 'connection', sqlState: null })
    expect(await store.claims.recover({ token: 'cut', worker: 'w' })).toEqual({ kind: 'voided' })
  })

  test('that its answer came too late: maybe, and the connection is not used again', async () => {
    const store = open({ callMs: 300, connections: 1 })
    await store.now()
    const held = proxy.next('hold-reply', 'holdfast.claim')
    await expect(store.claims.claim(claiming('late'))).rejects.toMatchObject(unavailable('maybe'))
    await held
    const before = proxy.made
    expect(await store.claims.claim(claiming('next'))).toMatchObject({ kind: 'claimed' })
    expect(proxy.made).toBe(before + 1)
    proxy.letGo()
  })
})

describe('transactions that break (S02)', () => {
  const connections = 2

  test('at BEGIN, once more than there are connections: nothing was done, and all are there again', async () => {
    const store = open({ connections })
    const strikes = Promise.all(
      Array.from({ length: connections + 1 }, () => proxy.next('drop-request', 'begin isolation')),
    )
    const calls = Array.from({ length: connections + 1 }, () => store.jobs.insert(two()))
    await strikes
    expect(await Promise.all(calls)).toMatchObject(calls.map(() => inserted))
    await serves(store, connections)
  })

  test.each(['drop-request', 'drop-reply'] as const)('at ROLLBACK (%s)', async (fate) => {
    const store = open({ connections })
    const [{ spec, due }] = there.jobs as readonly [InsertParams['jobs'][number]]
    const struck = proxy.next(fate, 'rollback\0')
    const conflicting = [{ spec: { ...spec, kind: 'another' }, due }, ...inserting(id()).jobs]
    const reply = store.jobs.insert({ insertId: 'i', jobs: conflicting })
    await struck
    expect(await reply).toEqual({ kind: 'conflict', ids: [spec.id] })
    await serves(store, connections)
  })

  test.each(['drop-request', 'drop-reply'] as const)('at COMMIT (%s): a repeat finds out', async (fate) => {
    const store = open({ connections })
    const struck = proxy.next(fate, 'commit\0')
    const reply = store.jobs.insert(two())
    await struck
    expect(await reply).toMatchObject(inserted)
    await serves(store, connections)
  })

  test('by a timeout in the middle', async () => {
    const store = open({ connections, callMs: 500 })
    await locker.query(`begin; delete from holdfast.body where id = 'there'`)
    await expect(store.jobs.insert(two())).rejects.toMatchObject(unavailable('no'))
    await locker.query('rollback')
    await serves(store, connections)
  })

  test('by an answer in the middle that does not come: without its commit nothing was done', async () => {
    const store = open({ connections, callMs: 500 })
    await store.now()
    const held = proxy.next('hold-reply', 'on conflict (id) do nothing')
    await expect(store.jobs.insert(two())).rejects.toMatchObject(unavailable('no'))
    await held
    await serves(store, connections)
  })

  test('by a failure of ours, as behind a pooler', async () => {
    const store = open({ connections }, pooled())
    const text = inserting('a\0b')
    await expect(store.jobs.insert(text)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await serves(store, connections)
  })
})

describe('connections that the server ends (S01)', () => {
  /** Ends all connections of the store that are in this state; answers how many. */
  async function terminate(state: string): Promise<number> {
    const { rowCount } = await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'holdfast'
          and state = $1 and (state <> 'active' or wait_event_type = 'Lock')`,
      [state],
    )
    return rowCount ?? 0
  }

  test('idle, in a transaction and in use: each is told of once, and the store goes on', async () => {
    const lost: Error[] = []
    const store = open({ connections: 1, onConnectionLost: (error) => void lost.push(error) })
    await store.now()
    await store.claims.renew({ worker: 'w', tokens: [] })
    expect(await terminate('idle')).toBe(2)
    await expect.poll(() => lost.length).toBe(2)

    const held = proxy.next('hold-reply', 'begin isolation')
    const begun = store.jobs.insert(two())
    await held
    expect(await terminate('idle in transaction')).toBe(1)
    proxy.letGo()
    expect(await begun).toMatchObject(inserted)
    expect(lost).toHaveLength(3)

    await locker.query('begin; lock table holdfast.claim in exclusive mode')
    const used = failure(store.claims.claim(claiming('used')))
    while ((await terminate('active')) === 0);
    await locker.query('rollback')
    expect(await used).toMatchObject({ sqlState: '57P01' })
    await expect.poll(() => lost.length).toBe(4)
    await serves(store, 1)
    expect(lost).toHaveLength(4)
  })

  test('a listener that throws harms nothing', async () => {
    let told = 0
    const onConnectionLost = (): void => {
      told += 1
      throw new Error('of the listener')
    }
    const store = open({ onConnectionLost })
    await store.now()
    proxy.cut()
    await expect.poll(() => told).toBe(1)
    expect(await store.now()).toBeGreaterThan(0)
  })
})

describe('a pooler that refuses the parameters of a connection', () => {
  test('is found out by all who connect at the same time, and then bounds each statement', async () => {
    proxy.refuses = 'options'
    const store = open({ callMs: 2_000, connections: 2 })
    const tokens = Array.from({ length: 8 }, (_, n) => `refused-${n}`)
    const replies = tokens.flatMap((token) => [
      store.claims.claim(claiming(token)),
      store.claims.renew({ worker: 'w', tokens: [token] }),
    ])
    await Promise.all(replies)
    // Too short to be tried again after a wait for a lock.
    const short = open({ callMs: 1_000, connections: 2 })
    await short.jobs.get({ id: id() })
    await locker.query('begin; lock table holdfast.job in exclusive mode')
    const job = inserting(id())
    await expect(short.jobs.insert(job)).rejects.toMatchObject(unavailable('no'))
    // The server has ended it, or does so within the tenth that is left.
    const waiting = `select count(*)::int as n from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`
    while ((await admin.query(waiting)).rows[0]?.n > 0);
    await locker.query('rollback')
    expect(await store.jobs.get({ id: job.jobs[0]?.spec.id ?? '' })).toBe(null)
    await serves(store, 2)
  })

  test('what it refuses for another reason is not its parameters', async () => {
    proxy.refuses = 'user'
    const store = open({ callMs: 300 })
    await expect(store.now()).rejects.toMatchObject({ code: 'STORE_REFUSED' })
  })
})
