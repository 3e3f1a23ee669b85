// What is SQLite's own: typed errors, waiting for a lock, transactions, the caller's handle, the trace of memory.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, test } from 'vitest'
import type { InsertParams } from '../../src/engine/ports/store.ts'
import { StoreUnavailable } from '../../src/engine/errors.ts'
import { standardProperties } from '../../src/properties/index.ts'
import { storeNamed } from '../../src/sim/catalogue.ts'
import { run, scenarios } from '../../src/sim/index.ts'
import { type SqliteStore, SqliteUnavailable, sqliteStore } from '../../src/stores/sqlite/index.ts'

const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-sqlite-'))
let files = 0
const newFile = (): string => path.join(directory, `${++files}.db`)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function inserting(id: string, input = '{}'): InsertParams {
  const spec = {
    id,
    kind: 'k',
    queue: 'q',
    band: 2,
    input,
    inputVersion: 1,
    maxAttempts: 3,
    maxEvictions: 3,
    backoffMs: [0],
    jitter: false,
    leaseTtlMs: 30_000,
    timeoutMs: 60_000,
    enqueuedAtMs: 0,
  }
  return { insertId: `i-${id}`, jobs: [{ spec, due: { delayMs: 0 } }] }
}

async function opened(
  file = newFile(),
): Promise<{ file: string; db: Database.Database; store: SqliteStore }> {
  const db = new Database(file, { timeout: 0 })
  const store = sqliteStore({ database: db }, { callMs: 300 })
  await store.migrate()
  return { file, db, store }
}

async function claimed(store: SqliteStore, token = 't'): Promise<number> {
  const queues = [{ queue: 'q', limit: 9 }]
  const reply = await store.claims.claim({ token, worker: 'w', limit: 9, queues, kinds: ['k'], idle: true })
  return reply.kind === 'claimed' ? (reply.jobs[0]?.epoch ?? 0) : 0
}

describe('errors', () => {
  test('a full disk is an outage that says so, with nothing half written (S11)', async () => {
    const { db, store } = await opened()
    await store.jobs.insert(inserting('a'))
    const pages = db.pragma('page_count', { simple: true }) as number
    db.pragma(`max_page_count = ${pages}`)
    const big = inserting('b', JSON.stringify('x'.repeat(100_000)))
    const failure = await store.jobs.insert(big).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreUnavailable)
    await expect(store.transact((tx) => tx.insert(big))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      reason: 'full',
      sqliteCode: 'SQLITE_FULL',
      sent: 'no',
    })
    expect(await store.jobs.get({ id: 'b' })).toBe(null)
    db.pragma('max_page_count = 100000')
    expect(await store.jobs.insert(big)).toEqual({ kind: 'inserted', jobs: [{ id: 'b', created: true }] })
  })

  test('a file that is no database, a damaged one and a file without tables are told apart', async () => {
    const file = newFile()
    writeFileSync(file, 'this is a letter to a friend, and by no means a database'.repeat(100))
    await expect(sqliteStore({ file }).migrate()).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
    const bare = sqliteStore({ file: newFile() })
    await expect(bare.now()).resolves.toBeGreaterThan(0)
    await expect(bare.jobs.get({ id: 'a' })).rejects.toMatchObject({ code: 'STORE_SCHEMA' })
    await expect(bare.jobs.insert(inserting('a'))).rejects.toThrow(/call migrate\(\) first/)
    expect(() => sqliteStore({ file: path.join(directory, 'no', 'where.db') })).toThrow(/cannot open/)
  })

  test('a schema of a newer release is refused, unless that release says it can be lived with (S09)', async () => {
    const { file, db } = await opened()
    db.exec('insert into holdfast_schema values (2, 1, 0)')
    const beside = sqliteStore({ file })
    await beside.migrate()
    expect(await beside.jobs.get({ id: 'a' })).toBe(null)
    db.exec('insert into holdfast_schema values (3, 3, 0)')
    const refused = /schema version 3, which needs a release that knows version 3; this one knows 1/
    await expect(sqliteStore({ file }).migrate()).rejects.toThrow(refused)
    await expect(sqliteStore({ file }).jobs.insert(inserting('a'))).rejects.toThrow(refused)
  })

  test('a database that cannot be written is an outage for writers; a closed store is none', async () => {
    const { file, store } = await opened()
    await store.jobs.insert(inserting('a'))
    const readonly = sqliteStore({ database: new Database(file, { readonly: true }) }, { callMs: 300 })
    expect((await readonly.jobs.get({ id: 'a' }))?.spec.id).toBe('a')
    await expect(readonly.transact((tx) => tx.insert(inserting('b')))).rejects.toMatchObject({
      reason: 'read-only',
    })
    const own = sqliteStore({ file })
    await own.close()
    await expect(own.jobs.get({ id: 'a' })).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })
})

describe('a lock that another connection holds', () => {
  test('is waited for without blocking the event loop, and the call then succeeds (8.9, 27.28)', async () => {
    const { file, db } = await opened()
    const store = sqliteStore({ file })
    db.exec('begin immediate')
    const pending = store.jobs.insert(inserting('a'))
    const other = store.watch.declare({ sweepMs: 5_000 })
    // The timer can only fire if nobody waits inside the driver.
    await new Promise<void>((resolve) => setTimeout(resolve, 1))
    db.exec('commit')
    expect(await pending).toMatchObject({ kind: 'inserted' })
    expect(await other).toMatchObject({ sweepMs: 5_000 })
    await store.close()
  })

  test('ends a call as unavailable and not sent when it is held for longer than the call may last', async () => {
    const { file, db } = await opened()
    const store = sqliteStore({ file }, { callMs: 100 })
    db.exec('begin immediate')
    const failure = await store.jobs.insert(inserting('a')).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreUnavailable)
    expect(failure).toMatchObject({ sent: 'no' })
    const bare = await store.transact((tx) => tx.insert(inserting('a'))).catch((error: unknown) => error)
    expect(bare).toBeInstanceOf(SqliteUnavailable)
    expect(bare).toMatchObject({ reason: 'busy', sent: 'no' })
    db.exec('commit')
    expect(await store.jobs.get({ id: 'a' })).toBe(null)
    await store.close()
  })

  test("the caller's own transaction on the shared handle is waited for too, and never rolled back", async () => {
    const { db, store } = await opened()
    db.exec('create table orders (id integer) strict; begin; insert into orders values (1)')
    const pending = store.jobs.insert(inserting('a'))
    db.exec('commit')
    expect(await pending).toMatchObject({ kind: 'inserted' })
    expect(db.prepare('select count(*) from orders').pluck().get()).toBe(1)
  })

  test("a caller's handle keeps its settings, stays open, and serves one store", async () => {
    const db = new Database(newFile(), { timeout: 1_234 })
    db.defaultSafeIntegers(true)
    const store = sqliteStore({ database: db })
    await store.migrate()
    await store.jobs.insert(inserting('a'))
    expect(await store.jobs.get({ id: 'a' })).toMatchObject({ seq: 1, epoch: 0 })
    await store.close()
    expect(db.open).toBe(true)
    expect(db.pragma('busy_timeout', { simple: true })).toBe(1_234n)
    expect(() => sqliteStore({ database: db })).toThrow(/serves another store/)
  })
})

describe('transactions', () => {
  test('transact commits what the caller and the store wrote, or none of it', async () => {
    const { db, store } = await opened()
    db.exec('create table orders (id text) strict')
    const order = db.prepare('insert into orders values (?)')
    await store.transact((tx) => {
      order.run('a')
      expect(tx.insert(inserting('a'))).toMatchObject({ kind: 'inserted' })
    })
    const broken = store.transact((tx) => {
      order.run('b')
      tx.insert(inserting('b'))
      throw new RangeError('no')
    })
    await expect(broken).rejects.toThrow(RangeError)
    const awaiting = store.transact(async (tx) => {
      tx.insert(inserting('c'))
    })
    await expect(awaiting).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(db.prepare('select id from orders').pluck().all()).toEqual(['a'])
    expect((await store.dump()).jobs.map(({ spec }) => spec.id)).toEqual(['a'])
  })

  test('a settle inside it applies with the rest, or throws and lets nothing of it be committed', async () => {
    const { db, store } = await opened()
    db.exec('create table sums (n integer) strict')
    await store.jobs.insert(inserting('a'))
    const epoch = await claimed(store)
    const settling = (at: number): Parameters<SqliteStore['jobs']['settle']>[0] => ({
      worker: 'w',
      settlements: [{ id: 'a', epoch: at, outcome: { kind: 'succeeded', result: '1' }, repeated: false }],
    })
    const stale = store.transact((tx) => {
      db.exec('insert into sums values (1)')
      try {
        tx.settle(settling(epoch + 1))
      } catch {
        // Whoever swallows it cannot commit either.
      }
    })
    await expect(stale).rejects.toMatchObject({ code: 'LEASE_LOST' })
    expect(db.prepare('select count(*) from sums').pluck().get()).toBe(0)
    expect((await store.jobs.get({ id: 'a' }))?.state).toBe('running')
    await store.transact((tx) => {
      db.exec('insert into sums values (2)')
      tx.settle(settling(epoch))
    })
    expect(db.prepare('select n from sums').pluck().all()).toEqual([2])
    expect((await store.jobs.get({ id: 'a' }))?.state).toBe('succeeded')
  })

  test('the work of a transaction runs once, whatever lock it meets', async () => {
    const { store } = await opened()
    let runs = 0
    const meeting = store.transact(() => {
      runs += 1
      throw new Database.SqliteError('another database is locked', 'SQLITE_BUSY')
    })
    await expect(meeting).rejects.toMatchObject({ reason: 'busy', sent: 'no' })
    expect(runs).toBe(1)
  })

  test("join works inside the caller's own transaction, and only there", async () => {
    const { db, store } = await opened()
    expect(() => store.join()).toThrow(/begin a transaction/)
    let late: ReturnType<SqliteStore['join']> | undefined
    const both = db.transaction((commit: boolean) => {
      late = store.join()
      expect(late.insert(inserting('a'))).toMatchObject({ kind: 'inserted' })
      if (!commit) throw new RangeError('no')
    })
    expect(() => both(false)).toThrow(RangeError)
    expect(await store.jobs.get({ id: 'a' })).toBe(null)
    both(true)
    expect((await store.jobs.get({ id: 'a' }))?.state).toBe('queued')
    expect(() => late?.insert(inserting('b'))).toThrow(/has ended/)
  })
})

test('no statement stays open over an await: a checkpoint empties the log at any time (S12)', async () => {
  const { db, store } = await opened()
  for (let n = 0; n < 20; n++) await store.jobs.insert(inserting(`${n}`))
  await claimed(store)
  await store.dump()
  expect(db.pragma('wal_checkpoint(truncate)')).toEqual([{ busy: 0, log: 0, checkpointed: 0 }])
})

test('the simulation has the same trace on memory and on SQLite, scenario by scenario', async () => {
  const [memory, sqlite] = [await storeNamed('memory'), await storeNamed('sqlite')]
  for (const [n, scenario] of scenarios.entries()) {
    const options = { seed: BigInt(7_000 + n), scenario, properties: standardProperties }
    const expected = await run({ ...options, store: memory })
    const { verdict, traceHash, events } = await run({ ...options, store: sqlite })
    expect([verdict, traceHash, events]).toEqual([expected.verdict, expected.traceHash, expected.events])
    expect(verdict).toBe('pass')
  }
})
