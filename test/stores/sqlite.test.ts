// What is SQLite's own: typed errors, waiting for a lock, transactions, the caller's handle, the trace of memory.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, test } from 'vitest'
import type { Outcome } from '../../src/engine/jobs/record.ts'
import type { InsertParams, InspectableStore, NewJob } from '../../src/engine/ports/store.ts'
import { StoreUnavailable } from '../../src/engine/errors.ts'
import { rawMemoryStore } from '../../src/stores/memory/index.ts'
import { SqliteUnavailable, rawSqliteStore, sqliteStore } from '../../src/stores/sqlite/index.ts'
import { steps, tables } from '../../src/stores/sqlite/schema.ts'

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
    tenant: null,
    keys: [],
    keepMs: 604_800_000,
    lineage: null,
    metadata: null,
    traceparent: null,
    enqueuedAtMs: 0,
  }
  return { insertId: `i-${id}`, jobs: [{ spec, due: { delayMs: 0 } }] }
}

function inserted(id: string): NewJob {
  return inserting(id).jobs[0] as NewJob
}

async function opened(
  file = newFile(),
): Promise<{ file: string; db: Database.Database; store: InspectableStore }> {
  const db = new Database(file, { timeout: 0 })
  const store = sqliteStore({ database: db }, { callMs: 300 })
  await store.migrate()
  return { file, db, store }
}

async function claimed(store: InspectableStore, token = 't'): Promise<number> {
  const queues = [{ queue: 'q', limit: 9 }]
  const params = { token, worker: 'w', limit: 9, queues, kinds: ['k'], solo: 'take' } as const
  const reply = await store.claims.claim(params)
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
    expect(failure).toMatchObject({ sent: 'no', cause: { reason: 'full', sqliteCode: 'SQLITE_FULL' } })
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
    const newest = steps.at(-1)?.version ?? 0
    db.exec(`insert into holdfast_schema values (${newest + 1}, 1, 0)`)
    const beside = sqliteStore({ file })
    await beside.migrate()
    expect(await beside.jobs.get({ id: 'a' })).toBe(null)
    const next = newest + 2
    db.exec(`insert into holdfast_schema values (${next}, ${next}, 0)`)
    const refused = `schema version ${next}, which needs a release that knows version ${next}; this one knows ${newest}`
    await expect(sqliteStore({ file }).migrate()).rejects.toThrow(refused)
    await expect(sqliteStore({ file }).jobs.insert(inserting('a'))).rejects.toThrow(refused)
  })

  test('a database that cannot be written is an outage for writers; a closed store is none', async () => {
    const { file, store } = await opened()
    await store.jobs.insert(inserting('a'))
    const readonly = sqliteStore({ database: new Database(file, { readonly: true }) }, { callMs: 300 })
    expect((await readonly.jobs.get({ id: 'a' }))?.spec.id).toBe('a')
    await expect(readonly.jobs.insert(inserting('b'))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      cause: { reason: 'read-only' },
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
    const { cause } = failure as StoreUnavailable
    expect(cause).toBeInstanceOf(SqliteUnavailable)
    expect(cause).toMatchObject({ reason: 'busy', sent: 'no' })
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

describe('an upgrade', () => {
  /** A database as version 1 made and left it, with a job in each place. */
  function versionOne(file: string): void {
    const db = new Database(file)
    db.pragma('journal_mode = wal')
    db.exec('create table holdfast_schema (version integer primary key, needs integer, applied_at integer)')
    db.exec(`${steps[0]?.sql}; insert into holdfast_schema values (1, 1, 0)`)
    const columns = 'seq, queue, kind, band, state, solo, epoch, attempt, failures, evictions, version'
    const addJob = db.prepare(
      `insert into holdfast_job (${columns}, visible_at, claim, updated_at, settle_epoch, settle_kind, error)
       values (?, 'q', 'k', 2, ?, ?, ?, ?, ?, ?, 3, ?, ?, 7, ?, ?, ?)`,
    )
    const error = JSON.stringify({ code: 'E', message: 'm' })
    addJob.run(1, 0, 0, 0, 0, 0, 0, 5, null, null, null, null)
    addJob.run(2, 0, 1, 4, 2, 0, 2, 5, null, null, null, error)
    addJob.run(3, 1, 0, 1, 1, 0, 0, null, 1, null, null, null)
    addJob.run(4, 3, 0, 1, 1, 1, 0, null, null, 1, 1, error)
    const addBody = db.prepare(
      `insert into holdfast_body values (?, ?, 1, 3, 3, '[0]', 0, 30000, 60000, 0, 7, 'i', '{}')`,
    )
    for (const [k, id] of ['queued', 'solo', 'running', 'failed'].entries()) addBody.run(k + 1, id)
    db.exec(`update holdfast_job set finished_at = 7 where state = 3;
      insert into holdfast_claim values (1, 't', 'w', 7, 90000, '[3]');
      insert into holdfast_lease values (1, 30000, 30007); insert into holdfast_watch values (1, 5000, 7, 9)`)
    db.close()
  }

  test('what a release that knows no dead letters starts anew is none, whatever mark it leaves', async () => {
    const file = newFile()
    versionOne(file)
    const store = sqliteStore({ file })
    await store.migrate()
    const db = new Database(file)
    for (const state of [0, 2]) {
      db.exec(`update holdfast_job set state = ${state} where seq = 4`)
      expect((await store.deadLetters.list({ limit: 9, cursor: null })).jobs).toEqual([])
      expect((await store.queries.counts()).map(({ dead }) => dead)).not.toContain(1)
      expect((await store.queries.list({ limit: 9, cursor: null, dead: true, payloads: true })).jobs).toEqual(
        [],
      )
      const command = { command: 'c', replays: [{ id: 'failed', as: 'failed~r1' }] }
      expect((await store.deadLetters.replay(command)).results).toMatchObject([{ kind: 'refused' }])
      expect((await store.jobs.get({ id: 'failed' }))?.deadAtMs).toBe(null)
    }
    db.close()
    await store.close()
  })

  test('from version 1 keeps every row, and all that is new works on them', async () => {
    const file = newFile()
    versionOne(file)
    const old = sqliteStore({ file })
    await expect(old.jobs.get({ id: 'queued' })).rejects.toThrow(/made by an older release; call migrate/)
    await old.migrate()
    const { jobs, claims, leases, watch, ...added } = await old.dump()
    expect(jobs.map(({ spec, state, version, epoch }) => [spec.id, state, version, epoch])).toEqual([
      ['failed', 'failed', 3, 1],
      ['queued', 'queued', 3, 0],
      ['running', 'running', 3, 1],
      ['solo', 'queued', 3, 4],
    ])
    const blank = { cancelRequestedAtMs: null, progress: null, lastCommand: null }
    for (const job of jobs) {
      expect(job).toMatchObject({ ...blank, spec: { metadata: null, traceparent: null } })
    }
    expect([claims.length, leases.length, watch?.sweepMs]).toEqual([1, 1, 5_000])
    expect(added).toEqual({
      checkpoints: [],
      logs: [],
      named: [],
      control: { hold: false, paused: [] },
      schedules: [],
      timeline: 0,
    })
    expect(await old.jobs.requestCancel({ id: 'running' })).toEqual({ kind: 'requested' })
    expect(await old.claims.renew({ worker: 'w', tokens: ['t'] })).toEqual({
      held: [{ id: 'running', epoch: 1, cancel: true }],
    })
    const letters = async (): Promise<string[]> =>
      (await old.deadLetters.list({ limit: 9, cursor: null })).jobs.map(({ spec }) => spec.id)
    expect(await letters()).toEqual(['failed'])
    const command = { id: 'failed', version: 3, command: 'c' }
    expect(await old.jobs.retry(command)).toEqual({ kind: 'applied', version: 4 })
    expect(await letters()).toEqual([])
    expect(await claimed(old, 'solo')).toBe(1)
    const keep = { id: 'running', epoch: 1, key: 'k', value: '1' }
    expect(await old.jobs.checkpoint(keep)).toEqual({ applied: true })
    await old.close()
  })

  test('leaves a release of version 1 able to insert, claim and settle beside it', async () => {
    const { db, store } = await opened()
    // What version 1 sends, word for word.
    db.exec(`insert into holdfast_job (queue, kind, band, state, solo, epoch, attempt, failures, evictions,
      version, visible_at, updated_at) values ('q', 'k', 2, 0, 0, 0, 0, 0, 0, 1, 5, 5);
      insert into holdfast_body (seq, id, input_version, max_attempts, max_evictions, backoff_ms, jitter,
      lease_ttl_ms, timeout_ms, enqueued_at, created_at, insert_id, input)
      values (1, 'a', 1, 3, 3, '[0]', 0, 30000, 60000, 0, 5, 'i', '{}')`)
    await store.jobs.insert({ ...inserting('b'), jobs: [{ ...inserted('b'), due: { undispatched: true } }] })
    const page = `select seq, visible_at from holdfast_job where state = 0 and solo = 0 and queue = 'q'
      and kind = 'k' and band = 2 and visible_at <= 99 order by visible_at, seq limit 9 + 0 offset 0 + 0`
    expect(db.prepare(page).raw().all()).toEqual([[1, 5]])
    expect(await claimed(store)).toBe(1)
    db.exec(`update holdfast_job set state = 0, solo = 0, epoch = 2, visible_at = 5, claim = null, updated_at = 5,
      settle_epoch = 1, settle_kind = 1, result = null, error = null where seq = 1`)
    expect(await claimed(store, 'again')).toBe(3)
  })

  test('columns of a newer release stay as they are, and go over to the replay of a dead letter (0.19, 25.5)', async () => {
    const { db, store } = await opened()
    await store.jobs.insert(inserting('a'))
    const failed: Outcome = {
      kind: 'failed',
      error: { code: 'E', message: 'm' },
      permanent: true,
      delayMs: 0,
    }
    const settle = async (id: string, token: string): Promise<void> => {
      const settlement = { id, epoch: await claimed(store, token), outcome: failed, repeated: false }
      await store.jobs.settle({ worker: 'w', settlements: [settlement] })
    }
    const replayed = async (id: string, as: string): Promise<void> => {
      await store.deadLetters.replay({ command: as, replays: [{ id, as }] })
    }
    await settle('a', 't1')
    await replayed('a', 'a~r1')
    // While this release has its statements prepared.
    db.exec(`alter table holdfast_body add column "order" text; alter table holdfast_body add column since integer;
      alter table holdfast_job add column mark text;
      update holdfast_body set "order" = 'é', since = 7; update holdfast_job set mark = 'm'`)
    await settle('a~r1', 't2')
    await replayed('a~r1', 'a~r2')
    const rows = `select b.id, b."order", b.since, j.mark from holdfast_body b join holdfast_job j using (seq) order by seq`
    expect(db.prepare(rows).raw().all()).toEqual([
      ['a', 'é', 7, 'm'],
      ['a~r1', 'é', 7, 'm'],
      ['a~r2', 'é', 7, null],
    ])
  })
})

describe('the plans', () => {
  const plan = (db: Database.Database, sql: string): string =>
    db
      .prepare<[], { detail: string }>(`explain query plan ${sql}`)
      .all()
      .map(({ detail }) => detail)
      .join('; ')

  test('of a claim and of a dispatch repair read an index of their own jobs alone', async () => {
    const { db } = await opened()
    for (const [solo, index] of [
      [0, 'ready'],
      [1, 'solo'],
    ]) {
      const read = plan(
        db,
        `select seq, visible_at from holdfast_job where state = 0 and solo = ${solo} and queue = 'q' and kind = 'k'
         and band = 2 and visible_at <= holdfast_now() order by visible_at, seq limit 9`,
      )
      expect(read).toMatch(new RegExp(`^SEARCH holdfast_job USING COVERING INDEX holdfast_job_${index} `))
      expect(read).not.toMatch(/TEMP B-TREE/)
    }
    const any = plan(db, 'select 1 from holdfast_job where state = 0 and solo = 1 limit 1')
    expect(any).toMatch(/USING (COVERING )?INDEX holdfast_job_solo/)
    const forgotten = plan(
      db,
      `select j.seq, b.id from holdfast_job j indexed by holdfast_job_undispatched
       join holdfast_body b on b.seq = j.seq where j.state = 0 and j.solo = 2 and j.updated_at <= 5
       order by j.seq limit 9`,
    )
    expect(forgotten).toMatch(/^SCAN j USING INDEX holdfast_job_undispatched/)
    expect(forgotten).not.toMatch(/TEMP B-TREE/)
  })

  test('of the list of dead letters walks along their own index, in its order', async () => {
    const { db } = await opened()
    const read = plan(
      db,
      `select j.seq, b.id from holdfast_body b join holdfast_job j on j.seq = b.seq
       left join holdfast_claim c on c.claim = j.claim
       where j.dead_at is not null and (j.dead_at, j.seq) > (1, 2) and j.dead_at < 9
       order by j.dead_at, j.seq limit 9`,
    )
    expect(read).toMatch(/^SEARCH j USING INDEX holdfast_job_dead /)
    expect(read).not.toMatch(/TEMP B-TREE/)
  })

  test('a replay is found by what the failed job was found by', async () => {
    const { db, store } = await opened()
    const { spec } = inserted('x')
    const keys = ['order:1', 'tenant=t']
    await store.jobs.insert({
      insertId: 'i',
      jobs: [{ spec: { ...spec, keys, tenant: 't' }, due: { delayMs: 0 } }],
    })
    const queues = [{ queue: 'q', limit: 9 }]
    await store.claims.claim({ token: 't', worker: 'w', limit: 9, queues, kinds: ['k'], solo: 'take' })
    const error = { code: 'E', message: 'm' }
    const outcome = { kind: 'failed', error, permanent: true, delayMs: 0 } as const
    await store.jobs.settle({ worker: 'w', settlements: [{ id: 'x', epoch: 1, outcome, repeated: false }] })
    await store.deadLetters.replay({ command: 'c', replays: [{ id: 'x', as: 'y' }] })
    const found = db
      .prepare(
        'select k.key, b.id from holdfast_lookup k join holdfast_body b on b.seq = k.seq order by k.key, k.seq',
      )
      .raw()
      .all()
    expect(found).toEqual(keys.flatMap((key) => ['x', 'y'].map((id) => [key, id])))
  })

  test('of the age of a queue leaps through the indexes of a claim, and sorts and scans nothing', async () => {
    const said: string[] = []
    const db = new Database(newFile(), { verbose: (sql) => void said.push(String(sql)) })
    const store = sqliteStore({ database: db })
    await store.migrate()
    await store.jobs.queueAges({ queues: ['q'] })
    const sql = said.find((text) => text.includes('with asked')) ?? ''
    const read = plan(db, sql).split('; ')
    const ofJobs = read.filter((step) => /holdfast_job| j /.test(step))
    expect(ofJobs.length).toBe(6)
    for (const step of ofJobs) {
      expect(step).toMatch(/^SEARCH .* USING COVERING INDEX holdfast_job_(ready|solo) \(queue=\?/)
    }
    expect(read.join()).not.toMatch(/TEMP B-TREE/)
    db.close()
  })

  test('of retention goes by the key of the jobs, and sorts and scans nothing', async () => {
    const said: string[] = []
    const db = new Database(newFile(), { verbose: (sql) => void said.push(String(sql)) })
    const store = sqliteStore({ database: db })
    await store.migrate()
    await store.retention.sweep({ after: null, limit: 9, deadLetterMs: 0, olderMs: 0 })
    const sql = said.find((text) => text.includes('b.keep_ms')) ?? ''
    expect(plan(db, sql)).toMatch(
      /^SEARCH j USING INTEGER PRIMARY KEY \(rowid>\?\); SEARCH b USING INTEGER PRIMARY KEY/,
    )
    expect(plan(db, sql)).not.toMatch(/SCAN|TEMP B-TREE/)
    db.close()
  })

  test('of all that hangs on a job nothing is left when it goes', async () => {
    const { db, store } = await opened()
    await store.jobs.insert({
      insertId: 'i',
      jobs: ['gone', 'stays'].map((id) => {
        const { spec, due } = inserted(id)
        return { spec: { ...spec, keepMs: 0, keys: ['order:1', 'tenant=t'] }, due }
      }),
    })
    db.exec(`insert into holdfast_checkpoint select seq, 'k', '1' from holdfast_job;
      insert into holdfast_log select seq, 1, 1, 1 from holdfast_job;
      insert into holdfast_log_line select seq, 1, 1, 1, 1, 'x' from holdfast_job`)
    await store.jobs.requestCancel({ id: 'gone' })
    const sweep = { after: null, limit: 9, deadLetterMs: 0, olderMs: 0 }
    expect(await store.retention.sweep(sweep)).toMatchObject({ removed: ['gone'] })
    for (const [table, left] of [
      ['job', 1],
      ['body', 1],
      ['lookup', 2],
      ['checkpoint', 1],
      ['log', 1],
      ['log_line', 1],
    ]) {
      const rows = db.prepare(`select count(*) as left from holdfast_${table}`).get()
      expect({ table, rows }).toEqual({ table, rows: { left } })
    }
  })

  test('of an adoption reads no job of a claim that is younger than the silence', async () => {
    const { db, store } = await opened()
    const params = { token: 't', worker: 'w', limit: 9, queues: [{ queue: 'q', limit: 9 }], kinds: ['k'] }
    await store.jobs.insert(inserting('a'))
    await store.claims.claim({ ...params, solo: 'take' })
    // A list that cannot be read would fail whoever reads it.
    db.exec(`update holdfast_claim set jobs = 'no list'`)
    await store.watch.declare({ sweepMs: 5_000 })
    db.exec('update holdfast_watch set seen_since = 0, seen_at = (select made_at from holdfast_claim)')
    expect(await store.jobs.adopt({ limit: 9, silentMs: 900_000 })).toEqual({ jobs: [] })
    await expect(store.jobs.adopt({ limit: 9, silentMs: 0 })).rejects.toThrow(/malformed JSON/)
  })

  test('a job of which nobody knows when it was claimed is never adopted (4.5, 27.9)', async () => {
    const { db, store } = await opened()
    const params = { token: 't', worker: 'w', limit: 9, queues: [{ queue: 'q', limit: 9 }], kinds: ['k'] }
    await store.jobs.insert(inserting('a'))
    await store.claims.claim({ ...params, solo: 'take' })
    await store.watch.declare({ sweepMs: 5_000 })
    db.exec('update holdfast_watch set seen_since = 0, seen_at = (select made_at from holdfast_claim)')
    db.exec('delete from holdfast_lease; delete from holdfast_claim')
    expect(await store.jobs.get({ id: 'a' })).toMatchObject({ state: 'running', claimedAtMs: null })
    expect(await store.jobs.adopt({ limit: 9, silentMs: 0 })).toEqual({ jobs: [] })
  })

  test('a job that is undispatched or cancelled is in no index that a claim reads', async () => {
    const { db, store } = await opened()
    for (const id of ['due', 'undispatched', 'cancelled']) {
      const due = id === 'undispatched' ? { undispatched: true as const } : { delayMs: 0 }
      await store.jobs.insert({ insertId: id, jobs: [{ ...inserted(id), due }] })
    }
    await store.jobs.requestCancel({ id: 'cancelled' })
    const inIndex = (name: string, where: string): unknown =>
      db.prepare(`select count(*) from holdfast_job indexed by ${name} where ${where}`).pluck().get()
    expect(inIndex('holdfast_job_ready', 'state = 0 and solo = 0')).toBe(1)
    expect(inIndex('holdfast_job_solo', 'state = 0 and solo = 1')).toBe(0)
    expect(inIndex('holdfast_job_undispatched', 'state = 0 and solo = 2')).toBe(1)
  })

  test('a heartbeat writes lease rows alone, also while it tells of a cancel (0.14)', async () => {
    const { db, store } = await opened()
    await store.jobs.insert(inserting('a'))
    await claimed(store)
    await store.jobs.requestCancel({ id: 'a' })
    for (const table of tables.filter((table) => table !== 'holdfast_lease')) {
      for (const what of ['insert', 'update', 'delete']) {
        db.exec(`create temp trigger ${table}_${what} before ${what} on ${table}
          begin select raise(abort, 'written'); end`)
      }
    }
    expect(await store.claims.renew({ worker: 'w', tokens: ['t'] })).toEqual({
      held: [{ id: 'a', epoch: 1, cancel: true }],
    })
    await expect(store.jobs.requestCancel({ id: 'a' })).resolves.toEqual({ kind: 'requested' })
    await expect(store.control.set({ hold: true })).rejects.toThrow('written')
  })
})

test('no statement stays open over an await: a checkpoint empties the log at any time (S12)', async () => {
  const { db, store } = await opened()
  for (let n = 0; n < 20; n++) await store.jobs.insert(inserting(`${n}`))
  await claimed(store)
  await store.dump()
  expect(db.pragma('wal_checkpoint(truncate)')).toEqual([{ busy: 0, log: 0, checkpointed: 0 }])
})

test('it answers and holds what the memory store does, to the byte: the order of keys too', async () => {
  let nowMs = 1_760_000_000_000
  const time = { nowMs: () => nowMs }
  const said: string[] = []
  for (const store of [rawMemoryStore(time), rawSqliteStore(time)]) {
    nowMs = 1_760_000_000_000
    said.push(JSON.stringify(await everything(store, () => (nowMs += 5)), null, 1))
    await store.close()
  }
  expect(said[1]).toBe(said[0])
})

/** The replies to some of every operation, and the whole content after each. */
async function everything(store: InspectableStore, tick: () => void): Promise<unknown[]> {
  const said: unknown[] = []
  const say = async (reply: Promise<unknown>): Promise<void> => {
    said.push(await reply, await store.dump())
    tick()
  }
  const full = { metadata: { b: '1', 2: 'x', a: '\0' }, traceparent: '00-1-2-01', backoffMs: [1, 5] }
  const job = (id: string, due: NewJob['due']): NewJob => {
    const { spec } = inserted(id)
    return { spec: { ...spec, ...full, leaseTtlMs: id === 'a' ? 10_000 : 30_000 }, due }
  }
  const settle = (id: string, epoch: number, outcome: Outcome): Promise<unknown> =>
    store.jobs.settle({ worker: 'w', settlements: [{ id, epoch, outcome, repeated: false }] })
  const ids = ['d', 'a', 'c', 'b', 'e', 'g']
  const jobs = ids.map((id) => job(id, { delayMs: 0 }))
  await say(store.jobs.insert({ insertId: 'i', jobs: [...jobs, job('f', { undispatched: true })] }))
  await say(store.watch.declare({ sweepMs: 5_000 }))
  await say(store.control.set({ queue: 'z', paused: true }))
  const queues = [{ queue: 'q', limit: 9 }]
  const claim = { worker: 'w', limit: 9, queues, kinds: ['k'], solo: 'take' } as const
  await say(store.claims.claim({ token: 't', ...claim }))
  await say(store.jobs.progress({ id: 'a', epoch: 1, percent: 50, phase: null }))
  await say(store.jobs.checkpoint({ id: 'a', epoch: 1, key: 'k', value: '1' }))
  await say(store.jobs.checkpoints({ id: 'a' }))
  await say(store.jobs.requestCancel({ id: 'a' }))
  await say(store.claims.renew({ worker: 'w', tokens: ['t'] }))
  await say(store.claims.recover({ token: 't', worker: 'w' }))
  await say(store.claims.recover({ token: 'void', worker: 'w' }))
  await say(settle('a', 1, { kind: 'released', delayMs: 0 }))
  const error = { code: 'E', message: 'm' }
  await say(settle('b', 1, { kind: 'failed', error, permanent: true, delayMs: 0 }))
  await say(settle('c', 1, { kind: 'succeeded', result: '1' }))
  await say(settle('d', 1, { kind: 'cancelled' }))
  await say(settle('e', 1, { kind: 'failed', error, permanent: false, delayMs: 7 }))
  await say(store.jobs.retry({ id: 'b', version: 3, command: 'c1' }))
  await say(store.jobs.reschedule({ id: 'b', version: 4, command: 'c2', delayMs: 5 }))
  await say(store.jobs.retry({ id: 'b', version: 9, command: 'c3' }))
  await say(store.jobs.repairDispatch({ limit: 9, olderMs: 0 }))
  await say(store.leases.acquire({ key: 'k', owner: 'o', ttlMs: 9 }))
  await say(store.leases.renew({ key: 'k', owner: 'o', ttlMs: 90_000 }))
  await say(store.leases.release({ key: 'k', owner: 'p' }))
  await say(store.watch.move({ lastReplyMs: await store.now(), sinceReplyMs: 0, maxAgeMs: 5_000 }))
  await say(store.jobs.reclaim({ limit: 9 }))
  await say(store.jobs.expireTimeouts({ limit: 9 }))
  await say(store.jobs.adopt({ limit: 9, silentMs: 0 }))
  await say(store.jobs.queueAges({ queues: ['q', 'nowhere'] }))
  await say(store.claims.collect({ limit: 9, voidMs: 0 }))
  await say(store.claims.claim({ token: 't2', ...claim }))
  await say(settle('e', 2, { kind: 'failed', error, permanent: true, delayMs: 0 }))
  const letters = store.deadLetters
  await say(letters.list({ limit: 9, cursor: null }))
  for (const command of ['r1', 'r1', 'r2']) {
    await say(letters.replay({ command, replays: [{ id: 'e', as: 'e~r1' }] }))
  }
  await say(letters.discard({ ids: ['e', 'nobody'] }))
  await say(letters.list({ limit: 9, cursor: null }))
  await say(store.jobs.get({ id: 'e~r1' }))
  await say(store.jobs.get({ id: 'g' }))
  return said
}
