// What a handler commits on real stores: its own rows and the success of its attempt, or neither.
import { PGlite } from '@electric-sql/pglite'
import Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Engine } from '../../src/engine/api.ts'
import { createEngine } from '../../src/engine/engine.ts'
import type { AttemptContext, Queryable } from '../../src/engine/jobs/context.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { JobRecord } from '../../src/engine/jobs/record.ts'
import type { Store } from '../../src/engine/ports/store.ts'
import { pgliteStore } from '../../src/stores/pglite/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { inserting } from '../support/inserting.ts'
import { newDatabase } from '../support/postgres/database.ts'

interface Place {
  readonly store: Store
  readonly rows: () => Promise<string[]>
  readonly close: () => Promise<void>
}

const newLedger = 'create table ledger (entry text primary key)'
const add = 'insert into ledger values ($1)'
const all = 'select entry from ledger order by entry'
type Entry = { readonly entry: string }

async function onPostgres(
  pooled: boolean,
): Promise<Place & { readonly hand: pg.Client; readonly url: string }> {
  const { url, drop } = await newDatabase()
  const options = pooled ? `?options=${encodeURIComponent('-c application_name=pooler')}` : ''
  const store = postgresStore({ connectionString: url + options }, { prepared: !pooled })
  await store.migrate()
  const hand = new pg.Client({ connectionString: url })
  await hand.connect()
  await hand.query(newLedger)
  return {
    store,
    hand,
    url,
    rows: async () => (await hand.query<Entry>(all)).rows.map(({ entry }) => entry),
    close: async () => {
      await Promise.all([store.close(), hand.end()])
      await drop()
    },
  }
}

async function onPglite(): Promise<Place> {
  const database = await PGlite.create()
  await database.exec(newLedger)
  const store = pgliteStore({ database })
  await store.migrate()
  return {
    store,
    rows: async () => (await database.query<Entry>(all)).rows.map(({ entry }) => entry),
    close: () => database.close(),
  }
}

type Run = (context: AttemptContext<unknown>) => Promise<unknown>
let engine: Engine | null = null

/** Runs one job to its end on an engine of its own; answers what became of it. */
async function ended(
  store: Store,
  id: string,
  run: Run,
  options: { codec?: boolean } = {},
): Promise<JobRecord> {
  const job = defineJob({ name: `job ${id}`, retry: { maxAttempts: 1 }, run })
  const codec = {
    encode: (json: string) => `coded ${json}`,
    decode: (stored: string) => stored.replace(/^coded /, ''),
  }
  engine = createEngine({
    store,
    jobs: [job],
    queues: { default: { concurrency: 1 } },
    ...(options.codec && { codec }),
  })
  const over = new Promise<void>((resolve) => engine?.on('attempt.confirmed', () => resolve()))
  await engine.enqueue(job, {}, { id })
  await engine.start()
  await over
  return (await engine.get(id)) as JobRecord
}

afterEach(async () => {
  await engine?.stop({ drainMs: 1_000 })
  engine = null
})

describe.each([
  ['postgres', () => onPostgres(false)],
  ['postgres behind a pooler', () => onPostgres(true)],
  ['pglite', onPglite],
] as const)('on %s', (_name, open) => {
  let place: Place
  beforeAll(async () => {
    place = await open()
  }, 60_000)
  afterAll(() => place.close())

  test('what the handler wrote, a job that it enqueued, and its success are one transaction', async () => {
    const next = defineJob<unknown, unknown, void>({ name: 'next', run: () => {} })
    const { state, result } = await ended(
      place.store,
      'a',
      async ({ commit, progress }) => {
        const moved = await commit(async (tx) => {
          await tx.query(add, ['a'])
          await engine?.enqueue(next, {}, { id: 'after a', in: tx })
          return { moved: 7 }
        })
        await expect(progress(50)).rejects.toMatchObject({ code: 'LEASE_LOST' })
        expect(moved).toEqual({ moved: 7 })
        throw new Error('too late to change anything')
      },
      { codec: true },
    )
    expect({ state, result }).toEqual({ state: 'succeeded', result: '{"moved":7}' })
    expect(await place.rows()).toContain('a')
    expect((await engine?.get('after a'))?.state).toBe('queued')
  })

  test('what the function throws rolls back, and is the handler’s error as it was', async () => {
    const thrown = new RangeError('the account is locked')
    const { state, error } = await ended(place.store, 'b', async ({ commit }) => {
      const committing = commit(async (tx) => {
        await tx.query(add, ['b'])
        throw thrown
      })
      await expect(committing).rejects.toBe(thrown)
      return committing
    })
    expect({ state, code: error?.code }).toEqual({ state: 'failed', code: 'HANDLER_ERROR' })
    expect(await place.rows()).not.toContain('b')
  })

  test('a statement that failed unheard, and a transaction that was ended by the handler, are not committed', async () => {
    const unheard = await ended(place.store, 'c', ({ commit }) =>
      commit(async (tx) => {
        await tx.query(add, ['c'])
        await tx.query(add, ['c']).catch(() => {})
      }),
    )
    expect(unheard.state).toBe('failed')
    const meddling = await ended(place.store, 'd', ({ commit }) =>
      commit(async (tx) => {
        await tx.query('rollback')
        await tx.query(add, ['d'])
      }),
    )
    expect(meddling.error).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await place.rows()).not.toContain('c')
  })

  test('the client does nothing more once the transaction is over', async () => {
    let kept: Queryable | undefined
    await ended(place.store, 'e', ({ commit }) =>
      commit(async (tx) => {
        kept = tx
      }),
    )
    await expect(kept?.query('select 1')).rejects.toThrow(/ended|closed/)
  })
})

describe('on a server', () => {
  let place: Awaited<ReturnType<typeof onPostgres>>
  beforeAll(async () => {
    place = await onPostgres(false)
  })
  afterAll(() => place.close())

  async function claimed(id: string): Promise<{ id: string; epoch: number }> {
    const { store } = place
    await store.jobs.insert(inserting(id))
    await store.claims.claim({
      token: `token ${id}`,
      worker: 'w',
      limit: 1,
      queues: [{ queue: 'q', limit: 1 }],
      kinds: ['k'],
      solo: 'take',
    })
    return { id, epoch: 1 }
  }

  test.each([
    ['commit', 'committed'],
    ['rollback', 'released'],
  ] as const)('to confirm waits for a transaction in flight: %s (E09)', async (how, kind) => {
    const attempt = await claimed(how)
    const settlement = `update holdfast.job set state = 2, claim = null, settle_epoch = 1, settle_kind = 0
      where seq = (select seq from holdfast.body where id = '${how}')`
    const flying = new pg.Client({ connectionString: place.url })
    await flying.connect()
    await flying.query(`begin; ${settlement}`)
    const confirming = place.store.commits?.confirm(attempt)
    const waiting = `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    while ((await place.hand.query<{ n: number }>(waiting)).rows[0]?.n !== 1);
    await flying.query(how)
    await flying.end()
    expect(await confirming).toMatchObject({ kind })
  })

  test('a connection that ends within the transaction costs a second run of the function, and nothing else', async () => {
    let runs = 0
    const { state, failures } = await ended(place.store, 'cut', ({ commit }) =>
      commit(async (tx) => {
        await tx.query(add, ['cut'])
        runs += 1
        if (runs > 1) return
        const { rows } = await tx.query('select pg_backend_pid() as pid')
        await place.hand.query('select pg_terminate_backend($1)', [(rows[0] as { pid: number }).pid])
        await tx.query('select 1')
      }),
    )
    expect({ state, failures, runs }).toEqual({ state: 'succeeded', failures: 0, runs: 2 })
    expect(await place.rows()).toEqual(['cut'])
  })

  test('a client is the one of the driver, but for what is the store’s', async () => {
    const { state } = await ended(place.store, 'driver', ({ commit }) =>
      commit(async (tx: pg.PoolClient) => {
        expect(tx).toBeInstanceOf(pg.Client)
        const { rows } = await tx.query<[number]>({
          text: 'select $1::int',
          values: [7],
          rowMode: 'array',
        } as never)
        expect(rows).toEqual([[7]])
        expect((await tx.query('show enable_seqscan')).rows).toEqual([{ enable_seqscan: 'on' }])
        await expect(Promise.resolve(tx.release())).rejects.toThrow(/the store's/)
      }),
    )
    expect(state).toBe('succeeded')
  })
})

describe('on sqlite', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-commit-'))
  const file = path.join(directory, 'jobs.db')
  const store = sqliteStore({ file })
  const reader = new Database(file)
  const rows = (): string[] => reader.prepare<[], string>(all).pluck().all()
  const put = (db: Database.Database, entry: string): void =>
    void db.prepare('insert into ledger values (?)').run(entry)

  beforeAll(async () => {
    await store.migrate()
    reader.exec(newLedger)
  })
  afterAll(async () => {
    reader.close()
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })

  test('what the handler wrote and its success are one transaction, under a codec that answers at once too', async () => {
    const run: Run = ({ commit }) =>
      commit((db: Database.Database) => {
        put(db, 'a')
        return { moved: 7 }
      })
    const { state, result } = await ended(store, 'a', run, { codec: true })
    expect({ state, result }).toEqual({ state: 'succeeded', result: '{"moved":7}' })
    expect(rows()).toEqual(['a'])
  })

  test('what it throws rolls back; so does a promise, and a transaction that it ended', async () => {
    const works: ((db: Database.Database) => unknown)[] = [
      (db) => {
        put(db, 'b')
        throw new RangeError('no')
      },
      async (db) => put(db, 'b'),
      (db) => db.exec('rollback'),
    ]
    const codes = ['HANDLER_ERROR', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT']
    for (const [k, work] of works.entries()) {
      const { state, error } = await ended(store, `b${k}`, ({ commit }) => commit(work))
      expect({ state, code: error?.code }).toEqual({ state: 'failed', code: codes[k] })
      await engine?.stop()
    }
    expect(rows()).toEqual(['a'])
  })
})
