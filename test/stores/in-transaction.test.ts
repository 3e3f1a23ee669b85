// Jobs that exist only if the caller's rows do: enqueue in the caller's own transaction, through any client.
import { PGlite } from '@electric-sql/pglite'
import Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { type HandledJob, defineJob } from '../../src/engine/jobs/definition.ts'
import type { Engine } from '../../src/engine/api.ts'
import type { Store } from '../../src/engine/ports/store.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { pgliteStore } from '../../src/stores/pglite/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { newDatabase } from '../support/postgres/database.ts'

interface Order {
  readonly order: number
}
const ship: HandledJob<Order, Order, void> = defineJob<Order, Order, void>({ name: 'ship', run: () => {} })

/** A transaction in a caller's hands. */
interface Begun {
  readonly client: unknown
  /** Writes a row of the caller's. */
  readonly order: (id: string) => Promise<void>
  /** Fails, as a statement of the caller's might. */
  readonly end: (how: 'commit' | 'rollback') => Promise<void>
}

interface Place {
  readonly store: Store
  readonly begin: () => Promise<Begun>
  readonly orders: () => Promise<string[]>
  readonly close: () => Promise<void>
}

const newOrders = 'create table orders (id text primary key)'
const addOrder = 'insert into orders values ($1)'
const allOrders = 'select id from orders order by id'
type Named = { readonly id: string }

/** A client of `pg`, wrapped for the engine as `wrap` says. */
async function onPostgres(wrap: (client: pg.Client) => unknown): Promise<Place> {
  const { url, drop } = await newDatabase()
  const store = postgresStore({ connectionString: url }, { schema: 'jobs_of_ours' })
  await store.migrate()
  const [client, reader] = [
    new pg.Client({ connectionString: url }),
    new pg.Client({ connectionString: url }),
  ]
  await Promise.all([client.connect(), reader.connect()])
  await client.query(newOrders)
  return {
    store,
    begin: async () => {
      await client.query('begin')
      return {
        client: wrap(client),
        order: async (id) => void (await client.query(addOrder, [id])),
        end: async (how) => void (await client.query(how)),
      }
    },
    orders: async () => (await reader.query<Named>(allOrders)).rows.map(({ id }) => id),
    close: async () => {
      await Promise.all([client.end(), reader.end(), store.close()])
      await drop()
    },
  }
}

async function onPglite(): Promise<Place> {
  const database = await PGlite.create()
  await database.exec(newOrders)
  const store = pgliteStore({ database })
  await store.migrate()
  return {
    store,
    begin: () =>
      new Promise((resolve, reject) => {
        const over = database.transaction(async (tx) => {
          const how = await new Promise<'commit' | 'rollback'>((end) =>
            resolve({
              client: tx,
              order: async (id) => void (await tx.query(addOrder, [id])),
              end: async (asked) => {
                end(asked)
                await over
              },
            }),
          )
          if (how === 'rollback') await tx.rollback()
        })
        over.catch(reject)
      }),
    orders: async () => (await database.query<Named>(allOrders)).rows.map(({ id }) => id),
    close: () => database.close(),
  }
}

async function onSqlite(whose: 'another handle' | 'the same handle'): Promise<Place> {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-within-'))
  const file = path.join(directory, 'jobs.db')
  const db = new Database(file)
  const store = sqliteStore(whose === 'another handle' ? { file } : { database: db })
  await store.migrate()
  db.exec(newOrders)
  // Some programs ask for this; the store's numbers are numbers all the same.
  db.defaultSafeIntegers(true)
  return {
    store,
    begin: async () => {
      db.exec('begin immediate')
      return {
        client: db,
        order: async (id) => void db.prepare('insert into orders values (?)').run(id),
        end: async (how) => void db.exec(how),
      }
    },
    orders: async () => db.prepare<[], string>(allOrders).pluck().all(),
    close: async () => {
      await store.close()
      db.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The adapter of operations.md: statements of the engine have their parameters in order, each once or more. */
function viaDrizzle(client: pg.Client): unknown {
  const db = drizzle(client)
  return {
    query: (text: string, params: readonly unknown[] = []) => {
      const parts = text.split(/\$(\d+)/)
      const chunks = parts.map((part, k) => (k % 2 === 0 ? sql.raw(part) : sql`${params[Number(part) - 1]}`))
      return db.execute(sql.join(chunks))
    },
  }
}

const places: Readonly<Record<string, () => Promise<Place>>> = {
  'postgres with pg': () => onPostgres((client) => client),
  'postgres with Drizzle': () => onPostgres(viaDrizzle),
  pglite: onPglite,
  'sqlite with a handle of its own': () => onSqlite('another handle'),
  'sqlite with the handle of the store': () => onSqlite('the same handle'),
}

describe.each(Object.entries(places))('on %s', (_name, open) => {
  let place: Place
  let engine: Engine

  beforeAll(async () => {
    place = await open()
    engine = createEngine({ store: place.store })
  }, 60_000)
  afterAll(() => place.close())

  test('the job is there iff the transaction is committed, and not before', async () => {
    for (const how of ['rollback', 'commit'] as const) {
      const { client, order, end } = await place.begin()
      await order('a')
      expect(await engine.enqueue(ship, { order: 1 }, { id: 'a', in: client })).toEqual({
        id: 'a',
        created: true,
      })
      await end(how)
      expect((await engine.get('a'))?.state).toBe(how === 'commit' ? 'queued' : undefined)
      expect(await place.orders()).toEqual(how === 'commit' ? ['a'] : [])
    }
  })

  test('an id that is taken is a conflict, stores none of its batch, and leaves the transaction usable (0.17)', async () => {
    await engine.enqueue(ship, { order: 1 }, { id: 'taken' })
    const { client, order, end } = await place.begin()
    const batch = ['b', 'taken', 'c'].map((id) => ({ job: ship, input: { order: 2 }, id }))
    await expect(engine.enqueueMany(batch, { in: client })).rejects.toMatchObject({
      code: 'ID_CONFLICT',
      ids: ['taken'],
    })
    await order('conflict')
    expect(await engine.enqueue(ship, { order: 1 }, { id: 'taken', in: client })).toEqual({
      id: 'taken',
      created: false,
    })
    // Of two in one transaction the second finds the first, though nobody else sees it yet.
    const fresh = await engine.enqueueMany([{ job: ship, input: { order: 3 }, id: 'd' }], { in: client })
    expect(fresh).toEqual([{ id: 'd', created: true }])
    await expect(engine.enqueue(ship, { order: 4 }, { id: 'd', in: client })).rejects.toMatchObject({
      ids: ['d'],
    })
    await end('commit')
    expect(await Promise.all(['b', 'c', 'd'].map(async (id) => (await engine.get(id))?.state))).toEqual([
      undefined,
      undefined,
      'queued',
    ])
    expect(await place.orders()).toContain('conflict')
  })

  test('several at once through one client take turns', async () => {
    const { client, end } = await place.begin()
    const ids = Array.from({ length: 5 }, (_, k) => `at-once-${k}`)
    await Promise.all(ids.map((id, order) => engine.enqueue(ship, { order }, { id, in: client })))
    await end('commit')
    for (const id of ids) expect((await engine.get(id))?.state).toBe('queued')
  })

  test('a conflict under a codec is judged by what the transaction sees', async () => {
    let nonce = 0
    const codec = {
      encode: (json: string) => `${++nonce}:${json}`,
      decode: (stored: string) => stored.replace(/^\d+:/, ''),
    }
    const coded = createEngine({ store: place.store, codec })
    const { client, end } = await place.begin()
    const enqueue = (order: number): Promise<unknown> =>
      coded.enqueue(ship, { order }, { id: 'coded', in: client })
    expect(await enqueue(1)).toMatchObject({ created: true })
    expect(await enqueue(1)).toMatchObject({ created: false })
    await expect(enqueue(2)).rejects.toMatchObject({ ids: ['coded'] })
    await end('rollback')
  })

  test('without an open transaction nothing is stored, and the caller is told', async () => {
    const { client, end } = await place.begin()
    await end('commit')
    const outside = engine.enqueue(ship, { order: 1 }, { id: 'outside', in: client })
    await expect(outside).rejects.toThrow(place.store.name === 'pglite' ? /closed/ : /no transaction open/)
    expect(await engine.get('outside')).toBe(null)
  })

  test.each([null, 7, {}, 'client'])('%j is no client', async (client) => {
    await expect(engine.enqueue(ship, { order: 1 }, { in: client })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })
})

test('a pool is no transaction', async () => {
  const { url, drop } = await newDatabase()
  const pool = new pg.Pool({ connectionString: url })
  const store = postgresStore({ pool })
  await store.migrate()
  const engine = createEngine({ store })
  await expect(engine.enqueue(ship, { order: 1 }, { in: pool })).rejects.toThrow(/no transaction open/)
  await pool.end()
  await store.close()
  await drop()
})

test('a handle of another file is no place for the jobs of this one', async () => {
  const store = sqliteStore({ database: new Database(':memory:') })
  await store.migrate()
  const other = new Database(':memory:')
  other.exec('begin')
  const engine = createEngine({ store })
  await expect(engine.enqueue(ship, { order: 1 }, { in: other })).rejects.toThrow(
    /the file that the store is in/,
  )
})

test('a store in memory says that it has no transactions', async () => {
  const engine = createEngine({ store: memoryStore() })
  await expect(engine.enqueue(ship, { order: 1 }, { in: {} })).rejects.toThrow(
    /the store memory has no transactions/,
  )
  const one = { job: ship, input: { order: 1 }, in: {} }
  await expect(engine.enqueueMany([one])).rejects.toThrow(/in is for all requests/)
})
