// Somebody who has gone holds a lock that others want: their waits are bounded and named, claims go on, and a leader
// whose connection broke asks again before it acts (S05).
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../src/engine/api.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { StoreUnavailable } from '../../src/engine/errors.ts'
import type { InspectableStore } from '../../src/engine/ports/store.ts'
import { type PostgresOptions, migrationSql, postgresStore } from '../../src/stores/postgres/index.ts'
import { failure, gate } from '../support/bench.ts'
import { inserting } from '../support/inserting.ts'
import { newDatabase } from '../support/postgres/database.ts'
import { steps } from '../../src/stores/postgres/migrations/steps.ts'
import { createProxy } from '../support/postgres/proxy.ts'
import { start } from '../support/processes.ts'

const patienceMs = 60_000

let database: Awaited<ReturnType<typeof newDatabase>>
/** Holds locks, and answers nobody. */
let ghost: pg.Client
let admin: pg.Client
let store: InspectableStore
let names = 0

beforeAll(async () => {
  database = await newDatabase()
  const connected = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: `${database.url}?application_name=ghost` })
    await client.connect()
    return client
  }
  ;[ghost, admin] = [await connected(), await connected()]
  store = postgresStore({ connectionString: database.url })
  await store.migrate()
  await store.watch.declare({ sweepMs: 5_000 })
})
afterAll(async () => {
  await store.close()
  await ghost.end()
  await admin.end()
  await database.drop()
})
beforeEach(() => ghost.query('begin'))
afterEach(() => ghost.query('rollback'))

const id = (): string => `job-${++names}`

/** With calls that are short, since they are to end for a lock. */
async function impatient(use: (store: InspectableStore) => Promise<void>, options: PostgresOptions = {}) {
  const own = postgresStore({ connectionString: database.url }, { callMs: 2_000, notify: false, ...options })
  try {
    await use(own)
  } finally {
    await own.close()
  }
}

async function claimed(from: InspectableStore = store): Promise<{ id: string; epoch: number } | null> {
  const queues = [{ queue: 'q', limit: 1 }]
  const params = { token: id(), worker: 'w', limit: 1, queues, kinds: ['k'], solo: 'pass' } as const
  const reply = await from.claims.claim(params)
  const [job] = reply.kind === 'claimed' ? reply.jobs : []
  return job ? { id: job.spec.id, epoch: job.epoch } : null
}

const success = { kind: 'succeeded', result: null } as const

async function named(call: Promise<unknown>, relation: string): Promise<void> {
  const error = await failure(call)
  expect(error).toBeInstanceOf(StoreUnavailable)
  expect(String(error)).toMatch(
    new RegExp(`another session holds a lock that this waited for.*55P03.*relation "${relation}"`),
  )
}

test('a row of a running job: its settle ends in time and says what it waited for; all else goes on', async () => {
  for (let n = 0; n < 2; n++) await store.jobs.insert(inserting(id()))
  const job = await claimed()
  const lock =
    'select from holdfast.job j join holdfast.body b on b.seq = j.seq where b.id = $1 for update of j'
  await ghost.query(lock, [job?.id])
  await impatient(async (own) => {
    const settlement = { id: job?.id ?? '', epoch: job?.epoch ?? 0, outcome: success, repeated: false }
    await named(own.jobs.settle({ worker: 'w', settlements: [settlement] }), 'job')
    const other = await claimed(own)
    const done = { id: other?.id ?? '', epoch: other?.epoch ?? 0, outcome: success, repeated: false }
    const applied = { results: [{ settled: 'applied', state: 'succeeded' }] }
    expect(await own.jobs.settle({ worker: 'w', settlements: [done] })).toEqual(applied)
    await own.claims.renew({ worker: 'w', tokens: ['t'] })
    await ghost.query('rollback')
    // The call that ended may have been on its way once more.
    const again = [{ ...settlement, repeated: true }]
    expect(await own.jobs.settle({ worker: 'w', settlements: again })).toEqual(applied)
  })
})

test('a row that waits to be claimed: it is passed over, by a lock that nobody sees', async () => {
  for (let n = 0; n < 2; n++) await store.jobs.insert(inserting(id()))
  const first = await admin.query<{ seq: string }>(
    'select seq from holdfast.job where place = 0 order by visible_at, seq limit 1 for update skip locked',
  )
  await ghost.query('select from holdfast.job where seq = $1 for update', [first.rows[0]?.seq])
  expect(await claimed()).toMatchObject({ epoch: 1 })
  expect(await claimed()).toBe(null)
  await ghost.query('rollback')
  expect(await claimed()).toMatchObject({ epoch: 1 })
})

test('the row of the sweepers: the sweep ends in time and says so, claims and reclaims do not wait', async () => {
  await store.jobs.insert(inserting(id()))
  await ghost.query('select from holdfast.watch for update')
  await impatient(async (own) => {
    await named(own.watch.move({ lastReplyMs: await own.now(), sinceReplyMs: 0, maxAgeMs: 60_000 }), 'watch')
    expect(await claimed(own)).toMatchObject({ epoch: 1 })
    expect(await own.jobs.reclaim({ limit: 9 })).toMatchObject({ jobs: [] })
  })
})

test('the row of a named lease: whoever asks for it is told in time', async () => {
  await store.leases.acquire({ key: 'cron', owner: 'a', ttlMs: 1 })
  await ghost.query(`select from holdfast.named where key = 'cron' for update`)
  await impatient(async (own) => {
    await named(own.leases.acquire({ key: 'cron', owner: 'b', ttlMs: 1_000 }), 'named')
    expect(await own.leases.acquire({ key: 'another', owner: 'b', ttlMs: 1_000 })).toMatchObject({})
  })
})

test('the lock of migrations: whoever waits says for whom, claims go on, and the wait has an end', async () => {
  await store.jobs.insert(inserting(id()))
  await ghost.query(`select pg_advisory_xact_lock(hashtext('holdfast migration'), hashtext('holdfast'))`)
  const told = gate<string>()
  // A role that is named has it run the script in any case.
  const options = { callMs: 200, runtimeRole: 'postgres', onMigrationWaits: told.open }
  await impatient(async (own) => {
    const migrated = own.migrate()
    expect(await told.promise).toMatch(
      /^the migration waits for a lock of session \d+ \(ghost\), which is idle in transaction, in a transaction for \d+ s$/,
    )
    expect(await claimed()).toMatchObject({ epoch: 1 })
    await ghost.query('rollback; begin')
    expect(await migrated).toMatchObject({ to: steps.length })
  }, options)
  await ghost.query(`select pg_advisory_xact_lock(hashtext('holdfast migration'), hashtext('holdfast'))`)
  const script = migrationSql()
  expect(script).toContain(`set local lock_timeout = '60s'`)
  const sooner = script.replace(`'60s'`, `'100ms'`)
  await expect(admin.query(sooner)).rejects.toMatchObject({ code: '55P03' })
  await admin.query('rollback')
})

test(
  'a process of ours that stands still in a transaction: the server ends it, and others go on',
  async () => {
    const proxy = await createProxy(database.url)
    const name = id()
    const frozen = start(new URL('postgres/frozen.mjs', import.meta.url), proxy.url, name)
    await frozen.heard('ready')
    const inTransaction = proxy.next('hold-reply', 'on conflict (id) do nothing')
    frozen.process.send('go')
    await inTransaction
    frozen.process.kill('SIGSTOP')
    try {
      // The same id: it waits for what becomes of the other.
      expect(await store.jobs.insert(inserting(name))).toMatchObject({ jobs: [{ created: true }] })
    } finally {
      frozen.process.kill('SIGKILL')
      await proxy.close()
    }
  },
  patienceMs,
)

interface Candidate {
  readonly engine: Engine
  readonly acting: () => boolean
  readonly terms: () => number
  readonly stop: () => Promise<void>
}

/** An engine that strives for a post; it acts for as long as it may. */
async function candidate(url: string): Promise<Candidate> {
  const own = postgresStore({ connectionString: url }, { callMs: 500, notify: false })
  const engine = createEngine({ store: own })
  let acting = false
  let terms = 0
  await engine.start()
  engine.lead(
    'post',
    async ({ signal }) => {
      terms += 1
      acting = true
      await new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => {
          acting = false
          resolve()
        }),
      )
    },
    { ttlMs: 2_000 },
  )
  return {
    engine,
    acting: () => acting,
    terms: () => terms,
    stop: async () => {
      await engine.stop()
      await own.close()
    },
  }
}

test(
  'a leader whose connections are ended leads on under its lease; one that is cut off acts no more before another does',
  async () => {
    const proxy = await createProxy(`${database.url}?application_name=leader`)
    const a = await candidate(proxy.url)
    await expect.poll(a.acting, { timeout: patienceMs }).toBe(true)
    const b = await candidate(database.url)
    let both = 0
    b.engine.on('leader.elected', () => void (both += a.acting() ? 1 : 0))
    a.engine.on('leader.elected', () => void (both += b.acting() ? 1 : 0))

    const backends = `from pg_stat_activity where application_name = 'leader' and datname = current_database()`
    const before = proxy.made
    const { rowCount } = await admin.query(`select pg_terminate_backend(pid) ${backends}`)
    expect(rowCount).toBeGreaterThan(0)
    const expiry = `select expires_at from holdfast.named where key = 'post'`
    const leaseOf = async (): Promise<unknown> => (await admin.query<{ expires_at: string }>(expiry)).rows[0]
    const lease = await leaseOf()
    await expect.poll(leaseOf, { timeout: patienceMs }).not.toEqual(lease)
    expect(proxy.made).toBeGreaterThan(before)
    expect([a.acting(), a.terms(), b.terms()]).toEqual([true, 1, 0])

    await proxy.refuse()
    await expect.poll(b.acting, { timeout: patienceMs }).toBe(true)
    expect(a.acting()).toBe(false)
    await proxy.accept()
    // It is heard again, asks, and is refused.
    await expect.poll(() => a.engine.health().store.reachable, { timeout: patienceMs }).toBe(true)
    expect([a.acting(), a.terms(), b.acting()]).toEqual([false, 1, true])
    await b.stop()
    await expect.poll(a.acting, { timeout: patienceMs }).toBe(true)
    expect([a.terms(), both]).toEqual([2, 0])
    await a.stop()
    await proxy.close()
  },
  patienceMs,
)
