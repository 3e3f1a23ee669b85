// The tables of the PostgreSQL store: made by many at once, by a DBA, in the middle of a crash, beside other releases.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrationSql, postgresStore } from '../../src/stores/postgres/index.ts'
import { checksum } from '../../src/stores/postgres/migrations/script.ts'
import { steps } from '../../src/stores/postgres/migrations/steps.ts'
import { inSchema } from '../../src/stores/postgres/names.ts'
import { inserting } from '../support/inserting.ts'
import { newDatabase } from '../support/postgres/database.ts'
import { type Program, start } from '../support/processes.ts'

let database: Awaited<ReturnType<typeof newDatabase>>
let admin: pg.Client

beforeAll(async () => {
  database = await newDatabase()
  admin = await connected()
})

afterAll(async () => {
  await admin.end()
  await database.drop()
})

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Opens a store on a schema for as long as `use` takes. */
async function withStore<R>(
  schema: string,
  use: (store: ReturnType<typeof postgresStore>) => Promise<R>,
  connectionString = database.url,
): Promise<R> {
  const store = postgresStore({ connectionString }, { schema })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** Has all of them set the schema up at once, and waits for those that are to live. */
async function migrated(
  schema: string,
  living: readonly Program[],
  dying: readonly Program[] = [],
): Promise<void> {
  for (const { process } of [...living, ...dying]) process.send(schema)
  await Promise.all(living.map((each) => each.heard(schema)))
  const { rows } = await admin.query(`select (select count(*)::int from ${schema}.body) as jobs,
    (select array_agg(version order by version) from ${schema}.migration) as versions`)
  expect(rows).toEqual([{ jobs: living.length, versions: steps.map(({ version }) => version) }])
}

describe('migrate', () => {
  // A process is started once for all rounds: it takes ten times as long as a round does.
  test('ten processes at once on an empty schema all start, twenty times over, and nine where one is killed (S09)', async () => {
    const program = new URL('postgres/migrator.mjs', import.meta.url)
    const programs = Array.from({ length: 10 }, (_, n) => start(program, database.url, `job-${n}`))
    const [victim, ...others] = programs as [Program, ...Program[]]
    try {
      await Promise.all(programs.map((each) => each.heard('ready')))
      for (let round = 0; round < 20; round++) {
        await migrated(`round_${round}`, programs)
      }
      const held = 'held'
      await admin.query(
        `begin; select pg_advisory_xact_lock(hashtext('${held} migration'), hashtext('${held}'))`,
      )
      const done = migrated(held, others, [victim])
      const waiting = `select count(*)::int as n from pg_locks
        where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`
      while ((await admin.query<{ n: number }>(waiting)).rows[0]?.n !== 10);
      victim.process.kill('SIGKILL')
      expect(await victim.ended()).toBe('SIGKILL')
      await admin.query('commit')
      await done
    } finally {
      for (const { process } of programs) process.kill()
    }
  }, 120_000)

  test('a migrator that dies in the middle leaves nothing, and holds nobody up (S09)', async () => {
    const dying = await connected()
    const script = migrationSql({ schema: 'halves' }).replace(/commit;\n$/, '')
    await dying.query(script)
    await withStore('halves', async (store) => {
      const waiting = store.migrate()
      dying.connection.stream.destroy()
      await waiting
      expect(await store.jobs.insert(inserting('a'))).toMatchObject({ kind: 'inserted' })
    })
  })

  test('it may be run again, and two schemas of one database have nothing in common', async () => {
    await withStore('one', async (one) => {
      await one.migrate()
      await one.migrate()
      await one.jobs.insert(inserting('a'))
      await withStore('two', async (two) => {
        await two.migrate()
        expect(await two.jobs.get({ id: 'a' })).toBe(null)
      })
    })
  })

  test('from version 1 keeps its rows; what failed there is a dead letter, until a release that knows none starts it anew', async () => {
    const [first] = steps
    await admin.query(`create schema older; ${inSchema(first?.sql ?? '', 'older')};
      create table older.migration (version integer primary key, needs integer not null, checksum text not null,
        applied_at timestamptz not null);
      insert into older.migration values (1, 1, '${checksum(first?.sql ?? '')}', now());
      insert into older.body (seq, lease_ttl_ms, bound_ms, enqueued_at, created_at, id, spec, insert_id, input)
        values (1, 30000, 90000, 0, 5, 'failed', '{"inputVersion":1,"maxAttempts":1,"maxEvictions":3,"backoffMs":[0],"jitter":false,"leaseTtlMs":30000,"timeoutMs":60000}', 'i', '{}');
      insert into older.job (seq, version, updated_at, kind_key, epoch, attempt, failures, evictions, band, state, queue,
        kind, finished_at, error) values (1, 3, 7, 0, 1, 1, 1, 0, 2, 3, 'q', 'k', 7, '{"code":"E","message":"m"}')`)
    await withStore('older', async (store) => {
      expect(await store.migrate()).toEqual({ from: 1, to: steps.length })
      const letters = async (): Promise<unknown> =>
        (await store.deadLetters.list({ limit: 9, cursor: null })).jobs
      expect(await letters()).toMatchObject([{ spec: { id: 'failed', keepMs: 604_800_000 }, deadAtMs: 7 }])
      await admin.query('update older.job set state = 2')
      expect(await letters()).toEqual([])
      expect(await store.queries.counts()).toEqual([])
      expect((await store.queries.list({ limit: 9, cursor: null, dead: true, payloads: true })).jobs).toEqual(
        [],
      )
      const replay = { command: 'c', replays: [{ id: 'failed', as: 'failed~r1' }] }
      expect((await store.deadLetters.replay(replay)).results).toMatchObject([{ kind: 'refused' }])
      expect((await store.deadLetters.discard({ ids: ['failed'] })).results).toMatchObject([
        { kind: 'refused' },
      ])
    })
  })

  test('columns of a newer release stay as they are, and go over to the replay of a dead letter (0.19, 25.5)', async () => {
    await withStore('wider', async (store) => {
      await store.migrate()
      await store.jobs.insert(inserting('a'))
      const settle = async (id: string, token: string): Promise<void> => {
        const queues = [{ queue: 'q', limit: 1 }]
        await store.claims.claim({ token, worker: 'w', limit: 1, queues, kinds: ['k'], solo: 'take' })
        const { epoch = 0 } = (await store.jobs.get({ id })) ?? {}
        const error = { code: 'E', message: 'm' }
        const outcome = { kind: 'failed', error, permanent: true, delayMs: 0 } as const
        const settlements = [{ id, epoch, outcome, repeated: false }]
        expect(await store.jobs.settle({ worker: 'w', settlements })).toMatchObject({
          results: [{ settled: 'applied' }],
        })
      }
      const replayed = async (id: string, as: string): Promise<void> => {
        const reply = await store.deadLetters.replay({ command: as, replays: [{ id, as }] })
        expect(reply).toEqual({ results: [{ kind: 'replayed', as }] })
      }
      await settle('a', 't1')
      await replayed('a', 'a~r1')
      await admin.query(`alter table wider.body add column "order" jsonb, add column since timestamptz default now();
        alter table wider.job add column mark text; update wider.job set mark = 'm';
        update wider.body set "order" = '{"é":[1.50]}', since = '2020-01-01T00:00:00Z'`)
      await settle('a~r1', 't2')
      await replayed('a~r1', 'a~r2')
      const { rows } =
        await admin.query(`select b.id, b."order"::text as o, extract(epoch from b.since)::int as since,
        j.mark from wider.body b join wider.job j using (seq) order by seq`)
      const kept = { o: '{"é": [1.50]}', since: 1_577_836_800 }
      expect(rows).toEqual([
        { id: 'a', ...kept, mark: 'm' },
        { id: 'a~r1', ...kept, mark: 'm' },
        { id: 'a~r2', ...kept, mark: null },
      ])
    })
  })

  test('without it every call says to call it first', async () => {
    await withStore('nowhere', async (store) => {
      const failure = { code: 'STORE_SCHEMA', message: expect.stringContaining('call migrate() first') }
      await expect(store.jobs.get({ id: 'a' })).rejects.toMatchObject(failure)
      await expect(store.jobs.insert(inserting('a'))).rejects.toMatchObject(failure)
      expect(await store.now()).toBeGreaterThan(0)
      await store.migrate()
      expect(await store.jobs.get({ id: 'a' })).toBe(null)
    })
  })

  test('a newer schema is refused, unless that release says it can be lived with (S09)', async () => {
    await withStore('newer', (store) => store.migrate())
    const newest = steps.length
    await admin.query(`insert into newer.migration values (${newest + 1}, 1, 'x', now())`)
    await withStore('newer', async (store) => {
      await store.migrate()
      expect(await store.jobs.get({ id: 'a' })).toBe(null)
    })
    const next = newest + 2
    await admin.query(`insert into newer.migration values (${next}, ${next}, 'x', now())`)
    const refused = `schema version ${next}, which needs a release that knows version ${next}; this one knows ${newest}`
    await withStore('newer', async (store) => {
      await expect(store.jobs.get({ id: 'a' })).rejects.toThrow(refused)
      await expect(store.migrate()).rejects.toThrow(refused)
    })
  })

  test('a step that another text made is refused', async () => {
    await withStore('edited', async (store) => {
      await store.migrate()
      await admin.query(`update edited.migration set checksum = 'another'`)
      await expect(store.migrate()).rejects.toThrow(/version 1 of the database was made by another text/)
    })
  })

  test.each(['Upper', 'a-b', 'pg_mine', '', 'x'.repeat(64), `a'b`])(
    'the schema name %j is refused',
    (schema) => {
      expect(() => postgresStore({ connectionString: database.url }, { schema })).toThrow(/schema must be/)
      expect(() => migrationSql({ schema })).toThrow(/schema must be/)
    },
  )
})

describe('the migration as SQL text', () => {
  test('sets up what a role may work with that may not change it, and may be run twice', async () => {
    await admin.query('create role holdfast_worker login')
    const script = migrationSql({ schema: 'dba', runtimeRole: 'holdfast_worker' })
    for (const text of [script, script]) await admin.query(text)
    const url = new URL(database.url)
    url.username = 'holdfast_worker'
    const work = async (store: ReturnType<typeof postgresStore>): Promise<void> => {
      await store.migrate()
      await store.jobs.insert(inserting('a'))
      await store.watch.declare({ sweepMs: 5_000 })
      const queues = [{ queue: 'q', limit: 9 }]
      const params = { token: 't', worker: 'w', limit: 9, queues, kinds: ['k'], solo: 'take' } as const
      expect(await store.claims.claim(params)).toMatchObject({ jobs: [{ spec: { id: 'a' } }] })
      expect(await store.jobs.reclaim({ limit: 9 })).toEqual({ jobs: [], heldBack: 0, full: false })
    }
    await withStore('dba', work, url.href)
    const worker = new pg.Client({ connectionString: url.href })
    await worker.connect()
    for (const sql of ['alter table dba.job add column x int', 'update dba.migration set needs = 9']) {
      await expect(worker.query(sql)).rejects.toMatchObject({ code: '42501' })
    }
    await worker.end()
    await admin.query('drop owned by holdfast_worker; drop role holdfast_worker')
  })
})
