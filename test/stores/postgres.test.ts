// What is PostgreSQL's own: connections that end, are taken or are read-only, bounds on the server, typed errors.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/engine/errors.ts'
import type { InspectableStore } from '../../src/engine/ports/store.ts'
import { type PostgresOptions, postgresStore } from '../../src/stores/postgres/index.ts'
import { inserting } from '../support/inserting.ts'
import { newDatabase } from '../support/postgres/database.ts'

let database: Awaited<ReturnType<typeof newDatabase>>
let admin: pg.Client
/** Locks what others then wait for. Within its transaction it would always see the same activity. */
let locker: pg.Client

beforeAll(async () => {
  database = await newDatabase()
  admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  locker = new pg.Client({ connectionString: database.url })
  await locker.connect()
  const store = postgresStore({ connectionString: database.url })
  await store.migrate()
  await store.close()
})

afterAll(async () => {
  await locker.end()
  await admin.end()
  await database.drop()
})

/** As connections come up behind a transaction pooler: without the parameters that the store asks for. */
const pooled = (): string => `${database.url}?options=${encodeURIComponent('-c application_name=pooler')}`

async function withStore(
  { url = database.url, ...options }: PostgresOptions & { readonly url?: string },
  use: (store: InspectableStore) => Promise<void>,
): Promise<void> {
  const store = postgresStore({ connectionString: url }, options)
  try {
    await use(store)
  } finally {
    await store.close()
  }
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'it succeeded',
    (error: unknown) => error,
  )
}

describe("the caller's pool", () => {
  test('is neither used nor closed: handlers that take all of it cannot keep a heartbeat waiting', async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 1 })
    const taken = await pool.connect()
    const store = postgresStore({ pool })
    expect(await store.claims.renew({ worker: 'w', tokens: ['t'] })).toEqual({ held: [] })
    await store.close()
    await expect(store.jobs.get({ id: 'a' })).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect((await taken.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    taken.release()
    await pool.end()
  })

  test('does not mind that the store is closed twice', async () => {
    const store = postgresStore({ connectionString: database.url })
    expect(await store.now()).toBeGreaterThan(0)
    await Promise.all([store.close(), store.close()])
    await store.close()
    await expect(store.now()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  test('says how to connect, its password included', async () => {
    await admin.query(`create role holdfast_secret login password 'not told'`)
    const url = new URL(database.url)
    const { hostname: host, port, pathname } = url
    const connection = { host, port: Number(port), database: pathname.slice(1) }
    const pool = new pg.Pool({ ...connection, user: 'holdfast_secret', password: () => 'not told' })
    const store = postgresStore({ pool })
    expect(await store.now()).toBeGreaterThan(0)
    await store.close()
    await admin.query('drop role holdfast_secret')
  })
})

describe('a connection that cannot be made', () => {
  test.each([
    ['a server without TLS', ({ href }: URL) => `${href}?sslmode=verify-full`],
    ['an address that is none', ({ href, port }: URL) => href.replace(`:${port}/`, ':99999/')],
  ])('to %s is refused by type, at once', async (_what, wrong) => {
    const url = new URL(database.url)
    url.password = 'S3CR3T'
    await withStore({ url: wrong(url) }, async (store) => {
      const error = await failureOf(store.now())
      expect(error).toMatchObject({ code: 'STORE_REFUSED' })
      expect(String(error)).not.toContain('S3CR3T')
    })
  })
})

describe('a call that the server holds up', () => {
  test.each([
    ['on a direct connection', () => database.url],
    ['as behind a pooler', pooled],
  ])('ends there too, and takes no effect later: %s (0.3, 3.13, S05)', async (_how, url) => {
    await withStore({ url: url(), callMs: 400 }, async (store) => {
      const id = `held-up-${url().length}`
      await store.jobs.insert(inserting(id))
      await locker.query('begin; lock table holdfast.job in exclusive mode')
      const failure = await failureOf(store.jobs.requestCancel({ id }))
      expect(failure).toBeInstanceOf(StoreUnavailable)
      const waiting = `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database()`
      // The server has ended it, or does so within the tenth that is left.
      while ((await admin.query(waiting)).rows[0]?.n > 0);
      await locker.query('commit')
      expect(await store.jobs.get({ id })).toMatchObject({ state: 'queued', version: 1 })
    })
  })
})

describe('connections that end', () => {
  test('idle ones are replaced: no call fails, and the process lives (S01)', async () => {
    await withStore({}, async (store) => {
      await store.jobs.insert(inserting('idle'))
      await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'holdfast' and datname = current_database()`)
      expect(await store.jobs.get({ id: 'idle' })).toMatchObject({ version: 1 })
    })
  })

  test('one that ends in the middle of a call leaves its outcome unknown, and is not used again (S01, S02)', async () => {
    await withStore({ callMs: 5_000 }, async (store) => {
      await store.jobs.insert(inserting('cut'))
      await locker.query('begin; lock table holdfast.claim in exclusive mode')
      const queues = [{ queue: 'q', limit: 9 }]
      const params = { token: 'cut', worker: 'w', limit: 9, queues, kinds: ['k'], solo: 'take' } as const
      const failure = failureOf(store.claims.claim(params))
      const blocked = `select pg_terminate_backend(pid) as ended from pg_stat_activity
        where application_name = 'holdfast' and wait_event_type = 'Lock' and datname = current_database()`
      while ((await admin.query(blocked)).rowCount === 0);
      await locker.query('commit')
      expect(await failure).toMatchObject({ sent: 'maybe', sqlState: '57P01' })
      expect(await store.claims.recover({ token: 'cut', worker: 'w' })).toEqual({ kind: 'voided' })
    })
  })
})

describe('errors', () => {
  test('a read-only server is an outage that ends by itself, without a restart of ours (S01)', async () => {
    await withStore({ callMs: 5_000 }, async (store) => {
      await store.jobs.insert(inserting('read-only'))
      const name = new URL(database.url).pathname.slice(1)
      await admin.query(`alter database ${name} set default_transaction_read_only = on`)
      await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'holdfast' and datname = current_database()`)
      const call = store.jobs.requestCancel({ id: 'read-only' })
      const seen = `select count(*)::int as n from pg_stat_activity
        where application_name = 'holdfast' and datname = current_database()`
      while ((await admin.query(seen)).rows[0]?.n === 0);
      await admin.query(`alter database ${name} reset default_transaction_read_only`)
      expect(await call).toEqual({ kind: 'cancelled' })
    })
  })

  test('nobody listening, and a name that leads nowhere, are outages in which nothing was sent', async () => {
    for (const url of ['postgres://a@127.0.0.1:1/a', 'postgres://a@no-such-host.invalid/a']) {
      await withStore({ url, callMs: 300 }, async (store) => {
        expect(await failureOf(store.jobs.get({ id: 'a' }))).toMatchObject({
          code: 'STORE_UNAVAILABLE',
          sent: 'no',
        })
      })
    }
  })

  test('a database that is not there, or is not for this user, is no outage', async () => {
    const url = new URL(database.url)
    url.pathname = '/no_such_database'
    await withStore({ url: url.href }, async (store) => {
      expect(await failureOf(store.now())).toMatchObject({ code: 'STORE_REFUSED' })
    })
  })

  test('text that cannot be stored is refused, and nothing is changed', async () => {
    await withStore({}, async (store) => {
      expect(await failureOf(store.jobs.insert(inserting('a\0b')))).toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
      expect(await failureOf(store.jobs.insert(inserting('nul', '"\0"')))).toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
      expect(await store.jobs.get({ id: 'nul' })).toBe(null)
    })
  })

  test('options that can never work are refused at once', () => {
    const target = { connectionString: database.url }
    for (const options of [{ connections: 0 }, { connections: 1.5 }, { callMs: 0 }, { runtimeRole: 'A b' }]) {
      expect(() => postgresStore(target, options)).toThrow(/must be/)
    }
    for (const nothing of [{}, null, 'postgres://', { pool: 7 }, { connectionString: 7 }]) {
      expect(() => postgresStore(nothing as typeof target)).toThrow(
        /takes \{ connectionString \} or \{ pool \}/,
      )
    }
  })
})

describe('sequences beyond 2^53', () => {
  test('are told apart by cursors', async () => {
    await withStore({}, async (store) => {
      await admin.query(`select setval('holdfast.job_seq', ${2n ** 53n})`)
      const keys = ['run:FAR']
      const ids = ['far-1', 'far-2', 'far-3', 'far-4']
      for (const id of ids) {
        const { insertId, jobs } = inserting(id)
        await store.jobs.insert({
          insertId,
          jobs: jobs.map(({ spec, due }) => ({ spec: { ...spec, keys }, due })),
        })
      }
      for (const filter of [{ keys }, { queues: ['q'], states: ['queued' as const] }, { createdFromMs: 1 }]) {
        const listed: (string | undefined)[] = []
        let cursor: string | null = null
        while (listed.length < 4) {
          const reply = await store.queries.list({ limit: 1, payloads: true, ...filter, cursor })
          listed.push(reply.jobs[0]?.spec.id)
          cursor = reply.next
        }
        expect(listed).toEqual([...ids].reverse())
      }
    })
  })
})
