// What the statements read, on PostgreSQL's own word: by index, no more than they need, however much there is.
// The reference mix (contract 26.1) is 200,000 rows, 11,400 of them waiting; then 100,000 more wait (filling a
// million takes minutes here, and a plan does not change between the two; bench/pg/claim.mjs measures it).
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aged, waiting } from '../../bench/pg/rows.mjs'
import type { ListParams } from '../../src/engine/ports/queries.ts'
import type { Settlement, Store } from '../../src/engine/ports/store.ts'
import { cursorAt } from '../../src/stores/paging.ts'
import { migrationSql } from '../../src/stores/postgres/index.ts'
import { storeOver } from '../../src/stores/postgres/store.ts'
import { newDatabase } from '../support/postgres/database.ts'
import { type Explained, explaining, nodesOf } from '../support/postgres/explaining.ts'

const tables = ['job', 'body']
const explained: Explained[] = []
let client: pg.Client
let store: Store
/** The same, unexplained. */
let quiet: Store
let close: () => Promise<void>

async function opened(): Promise<
  [client: pg.Client, store: Store, quiet: Store, close: () => Promise<void>]
> {
  const { url, drop } = await newDatabase()
  const hand = new pg.Client({ connectionString: url })
  await hand.connect()
  const parts = {
    name: 'explained',
    callMs: 60_000,
    text: (sql: string) => sql,
    migrationScript: migrationSql(),
  }
  const told = storeOver(explaining(hand, explained), parts)
  const silent = storeOver(explaining(hand, null), parts)
  await told.migrate()
  const end = async (): Promise<void> => {
    await hand.end()
    await drop()
  }
  return [hand, told, silent, end]
}

beforeAll(async () => {
  ;[client, store, quiet, close] = await opened()
  await client.query(aged)
  // Seen for an hour; of the 60 claims that run five are silent, five more have run for too long, one has no lease.
  await client.query(`insert into holdfast.watch select true, 5000, ms - 3600000, ms from
      (select floor(extract(epoch from now()) * 1000)::bigint as ms) t;
    update holdfast.lease set expires_at = 0 where claim <= 5;
    update holdfast.claim set made_at = made_at - 3600000 where claim between 6 and 10;
    delete from holdfast.lease where claim = 11;
    update holdfast.claim set made_at = made_at - 3600000, bound_ms = 360000000 where claim = 11`)
  for (const table of ['job', 'body', 'claim', 'lease'])
    await client.query(`vacuum analyze holdfast.${table}`)
}, 120_000)

afterAll(() => close())

/**
 * Runs the operation and looks at each of its statements: rows of the large tables are found by key, none is looked
 * at in vain beyond `reads`, and nothing larger is sorted. Of a plan for any parameters only the keys can be seen.
 */
async function plansOf<R>(reads: number, operation: () => Promise<R>): Promise<R> {
  explained.length = 0
  const reply = await operation()
  expect(explained.length).toBeGreaterThan(0)
  for (const { sql, carriedOut, generic } of explained) {
    for (const node of [...nodesOf(carriedOut), ...nodesOf(generic)]) {
      if (!tables.includes(node['Relation Name'] ?? '') || !node['Node Type'].includes('Scan')) continue
      // The index of those without a place in the queue holds nothing else.
      const byKey = node['Index Cond'] ?? node['TID Cond'] ?? node['Index Name'] === 'job_undispatched'
      expect(byKey, `${JSON.stringify(node)} of ${sql}`).toBeTruthy()
    }
    for (const node of nodesOf(carriedOut)) {
      const loops = node['Actual Loops'] ?? 0
      const read = loops * ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0))
      expect(read, `${JSON.stringify(node)} of ${sql}`).toBeLessThanOrEqual(reads)
    }
  }
  return reply
}

/**
 * Runs the question and looks at each of its statements: the large tables are read by index, planned for these
 * parameters or for any, no node reads more than `reads`, and none sorts more than `sorts`.
 */
async function readsOf<R>(
  { reads, sorts }: { reads: number; sorts: number },
  ask: () => Promise<R>,
): Promise<R> {
  explained.length = 0
  const reply = await ask()
  expect(explained.length).toBeGreaterThan(0)
  for (const { sql, carriedOut, generic } of explained) {
    for (const node of [...nodesOf(carriedOut), ...nodesOf(generic)]) {
      if (!['job', 'body', 'lookup'].includes(node['Relation Name'] ?? '')) continue
      expect(node['Index Name'], `${JSON.stringify(node)} of ${sql}`).toBeTruthy()
    }
    for (const node of nodesOf(carriedOut)) {
      const rows = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)
      const many = (node['Actual Loops'] ?? 0) * rows
      expect(many, `${JSON.stringify(node)} of ${sql}`).toBeLessThanOrEqual(reads)
      if (!node['Node Type'].includes('Sort')) continue
      const sorted = Math.max(...(node.Plans ?? []).map((below) => below['Actual Rows'] ?? 0))
      expect(sorted, `${JSON.stringify(node)} of ${sql}`).toBeLessThanOrEqual(sorts)
    }
  }
  return reply
}

const claimOf = (
  limit: number,
  queues = ['default'],
  kinds = ['kind'],
  of = store,
  token: string = randomUUID(),
) =>
  of.claims.claim({
    token,
    worker: 'w',
    limit,
    queues: queues.map((queue) => ({ queue, limit })),
    kinds,
    solo: 'await',
  })

/** As the engine sends them. */
async function settlementsOf(count: number, of = quiet): Promise<Settlement[]> {
  const token = randomUUID()
  const reply = await claimOf(count, ['default'], ['kind'], of, token)
  if (reply.kind === 'void') throw new Error('void')
  expect(reply.jobs).toHaveLength(count)
  return reply.jobs.map(({ spec, epoch, seq }) => ({
    id: spec.id,
    epoch,
    outcome: { kind: 'succeeded', result: null },
    repeated: false,
    claimed: { token, seq },
  }))
}

function failed(settlement: Settlement): Settlement {
  const error = { code: 'E', message: 'm' }
  return { ...settlement, outcome: { kind: 'failed', error, permanent: true, delayMs: 0 } }
}

const some = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    spec: {
      id: `new-${n}-${randomUUID()}`,
      kind: 'kind',
      queue: 'default',
      band: 2,
      input: '{}',
      inputVersion: 1,
      maxAttempts: 3,
      maxEvictions: 3,
      backoffMs: [1_000],
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
    },
    due: { delayMs: 0 },
  }))

/** How many rows of a table were updated, and how many of them without touching an index. */
async function updates(table: string): Promise<{ readonly all: number; readonly heapOnly: number }> {
  await client.query('select pg_stat_force_next_flush()')
  const { rows } = await client.query<{ all: string; hot: string }>(
    `select n_tup_upd as all, n_tup_hot_upd as hot from pg_stat_user_tables where schemaname = 'holdfast' and relname = $1`,
    [table],
  )
  return { all: Number(rows[0]?.all), heapOnly: Number(rows[0]?.hot) }
}

describe('lists and counts beside 200,000 jobs in the reference mix', () => {
  const page = { limit: 50, cursor: null, payloads: true }
  const middle = cursorAt('100000')

  beforeAll(async () => {
    // 1,001 runs of 200 jobs one after the other, 20 tenants in turns; every other failed job is a dead letter.
    await client.query(`insert into holdfast.lookup select 'run:R' || g / 200, g from generate_series(1, 200000) g;
      insert into holdfast.lookup select 'tenant=t' || g % 20, g from generate_series(1, 200000) g;
      update holdfast.job set dead_at = seq where state = 3 and seq % 2 = 0`)
    for (const table of ['job', 'lookup']) await client.query(`vacuum analyze holdfast.${table}`)
  }, 120_000)

  it.each<[string, Partial<ListParams>]>([
    ['the first page', {}],
    ['a page in the middle', { cursor: middle }],
    ['by kind', { kinds: ['kind'] }],
    ['by queue', { queues: ['default', 'other'] }],
    ['what waits and what runs, many', { states: ['queued', 'running'], cursor: cursorAt('199000') }],
    ['what is over', { states: ['succeeded'], cursor: middle }],
    ['of nobody', { tenant: null }],
    ['by time', { createdFromMs: 0, createdToMs: 1 }],
    ['by a key', { keys: ['run:R500'] }],
    ['by a key, further on', { keys: ['run:R500'], cursor: cursorAt('100100') }],
    ['by tenant', { tenant: 't3' }],
    ['by tenant, in the middle', { tenant: 't3', cursor: middle, states: ['succeeded'] }],
  ])('%s: reads the page, and sorts nothing', async (_, params) => {
    // The count of what waits ends where it is no more few.
    const reads = params.states?.includes('queued') ? 10_001 : 51
    const list = () => store.queries.list({ ...page, ...params })
    expect((await readsOf({ reads, sorts: 0 }, list)).jobs).toHaveLength(50)
  })

  it.each([[['tenant=t3', 'run:R500']], [['run:R500', 'tenant=t3']]])(
    'by %s: reads the rarer of the keys, and of the other what tells that it is',
    async (keys) => {
      const list = () => store.queries.list({ ...page, keys })
      expect((await readsOf({ reads: 2_000, sorts: 2 }, list)).jobs).toHaveLength(10)
    },
  )

  it('failed: passes over what was inserted since, as the reference does', async () => {
    const { jobs } = await readsOf({ reads: 14_051, sorts: 0 }, () =>
      store.queries.list({ ...page, states: ['failed'] }),
    )
    expect(jobs).toHaveLength(50)
  })

  it('running, and dead letters: read these alone, wherever they lie', async () => {
    const running = () => store.queries.list({ ...page, states: ['running'] })
    expect((await readsOf({ reads: 600, sorts: 600 }, running)).jobs).toHaveLength(50)
    const dead = () => store.queries.list({ ...page, dead: true })
    expect((await readsOf({ reads: 3_000, sorts: 3_000 }, dead)).jobs).toHaveLength(50)
  })

  it('a large page finds bodies and claims by key too', async () => {
    const list = () => store.queries.list({ ...page, limit: 10_000, cursor: middle })
    expect((await readsOf({ reads: 10_001, sorts: 0 }, list)).jobs).toHaveLength(10_000)
  })

  it('counts read what waits, runs and is dead out of their indexes, and nothing that is over', async () => {
    // Those that run or are dead are sorted by their queue, where the planner takes them for few.
    const counts = await readsOf({ reads: 11_400, sorts: 3_000 }, () => store.queries.counts())
    const none = { delayed: 0, undispatched: 0 }
    expect(counts).toEqual([{ queue: 'default', due: 11_400, running: 600, dead: 3_000, ...none }])
  })

  it('what waits is read alone where it is little, however much has ended since', async () => {
    const [hand, small, , end] = await opened()
    await hand.query(`${waiting(20_000)} update holdfast.job set state = 2, place = null where seq > 500`)
    for (const table of ['job', 'body']) await hand.query(`vacuum analyze holdfast.${table}`)
    const list = () => small.queries.list({ ...page, states: ['running', 'queued'] })
    expect((await readsOf({ reads: 500, sorts: 500 }, list)).jobs).toHaveLength(50)
    await end()
  })
})

for (const many of [false, true]) {
  const more = many ? ', and 100,000 that wait' : ''
  describe(`beside 200,000 jobs in the reference mix${more}`, () => {
    beforeAll(async () => {
      if (!many) return
      await client.query(waiting(100_000, 1_000_001))
      for (const table of ['job', 'body']) await client.query(`vacuum analyze holdfast.${table}`)
    }, 120_000)

    it('a claim reads what it takes', async () => {
      expect(await plansOf(40, () => claimOf(10))).toMatchObject({ kind: 'claimed', jobs: { length: 10 } })
    })

    it('a claim over several queues and kinds reads as much of each', async () => {
      const claim = (): ReturnType<typeof claimOf> =>
        claimOf(10, ['default', 'other', 'third'], ['kind', 'another'])
      expect(await plansOf(200, claim)).toMatchObject({ kind: 'claimed', jobs: { length: 10 } })
    })

    it.each([
      ['by its sequence', (settlement: Settlement) => settlement],
      ['by its id', ({ claimed: _claimed, ...byId }: Settlement) => byId],
      ['of an attempt that failed', failed],
    ])('a settle finds each job %s', async (_, given) => {
      const settlements = (await settlementsOf(200)).map(given)
      const { results } = await plansOf(400, () => store.jobs.settle({ worker: 'w', settlements }))
      expect(results.every(({ settled }) => settled === 'applied')).toBe(true)
    })

    it('dead letters are listed, replayed and discarded by what they are, and what they name', async () => {
      // There were none when the table was filled.
      await client.query('analyze holdfast.job')
      const { deadLetters } = store
      const { jobs, next: cursor } = await plansOf(150, () => deadLetters.list({ limit: 50, cursor: null }))
      expect(jobs).toHaveLength(50)
      const next = await plansOf(150, () => deadLetters.list({ limit: 50, cursor, kinds: ['kind'] }))
      expect(next.jobs).toHaveLength(50)
      const replays = jobs.map(({ spec: { id } }) => ({ id, as: `${id}~r1` }))
      const made = await plansOf(150, () => deadLetters.replay({ command: randomUUID(), replays }))
      expect(made.results.every(({ kind }) => kind === 'replayed')).toBe(true)
      const ids = next.jobs.map(({ spec }) => spec.id)
      const gone = await plansOf(150, () => deadLetters.discard({ ids }))
      expect(gone.results.every(({ kind }) => kind === 'discarded')).toBe(true)
    })

    it('a settle writes no index', async () => {
      const more = await settlementsOf(600)
      const before = await updates('job')
      await quiet.jobs.settle({ worker: 'w', settlements: more })
      const after = await updates('job')
      expect(after.all - before.all).toBe(600)
      // But for the page on which the explained ones left no room.
      expect(after.heapOnly - before.heapOnly).toBeGreaterThan(560)
    })

    it('a heartbeat writes lease rows alone, and no index of them', async () => {
      const before = [await updates('lease'), await updates('job')] as const
      const tokens = Array.from({ length: 40 }, (_, n) => `token-${n + 21}`)
      for (let n = 0; n < 5; n++) {
        const reply = await plansOf(1_000, () => store.claims.renew({ worker: 'bench', tokens }))
        expect(reply.held).toHaveLength(400)
      }
      const after = [await updates('lease'), await updates('job')] as const
      expect(after[0].all - before[0].all).toBe(400)
      expect(after[0].heapOnly - before[0].heapOnly).toBe(400)
      expect(after[1]).toEqual(before[1])
    })

    it('an insert finds its ids by key', async () => {
      const jobs = some(50)
      expect(await plansOf(2_500, () => store.jobs.insert({ insertId: 'i', jobs }))).toMatchObject({
        kind: 'inserted',
      })
      // The second finds them there.
      await plansOf(2_500, () => store.jobs.insert({ insertId: 'other', jobs }))
    })

    it('queueAges reads the head of each kind and band', async () => {
      const [age] = await plansOf(40, () => store.jobs.queueAges({ queues: ['default', 'other'] }))
      expect(age?.oldestDueMs).toBeGreaterThan(0)
    })

    it('get, a cancel and the reading of checkpoints find their job by key', async () => {
      const id = `job-${many ? '000001099999' : '000000199999'}`
      expect(await plansOf(10, () => store.jobs.get({ id }))).toMatchObject({ state: 'queued' })
      await plansOf(10, () => store.jobs.checkpoints({ id }))
      await plansOf(10, () => store.jobs.requestCancel({ id }))
    })

    it('the sweep reads claims that run and their jobs, and nothing that waits or is over', async () => {
      await plansOf(2_000, () =>
        store.watch.move({ lastReplyMs: 0, sinceReplyMs: 0, maxAgeMs: Number.MAX_SAFE_INTEGER }),
      )
      const { jobs } = await plansOf(2_000, () => store.jobs.reclaim({ limit: 100 }))
      expect(jobs.length).toBe(many ? 0 : 50)
      const late = await plansOf(2_000, () => store.jobs.expireTimeouts({ limit: 100 }))
      expect(late.jobs.length).toBe(many ? 0 : 50)
      const adopted = await plansOf(2_000, () => store.jobs.adopt({ limit: 100, silentMs: 900_000 }))
      expect(adopted.jobs.length).toBe(many ? 0 : 10)
      await plansOf(2_000, () => store.jobs.repairDispatch({ limit: 100, olderMs: 0 }))
      await plansOf(2_000, () => store.claims.collect({ limit: 100, voidMs: 0 }))
    })

    it('retention reads the next jobs by key, as many as it was told, and sorts no more than those', async () => {
      const params = { limit: 1_000, deadLetterMs: 0, olderMs: 0 }
      // Half of the first ones are kept.
      await client.query(`update holdfast.body
        set spec = jsonb_set(spec::jsonb, '{keepMs}', '3000000000000')::text where seq % 2 = 1 and seq <= 4000`)
      const first = await plansOf(1_000, () => store.retention.sweep({ ...params, after: null }))
      expect(first).toMatchObject({ looked: 1_000, removed: { length: many ? 0 : 500 } })
      const next = await plansOf(1_000, () => store.retention.sweep({ ...params, after: first.after }))
      expect(next).toMatchObject({ looked: 1_000, removed: { length: 500 } })
      // The young end the pass.
      const young = { ...params, olderMs: Number.MAX_SAFE_INTEGER, after: null }
      expect(await plansOf(1_000, () => store.retention.sweep(young))).toMatchObject({
        looked: 0,
        after: null,
      })
    })
  })
}

describe('beside few others', () => {
  it.each([
    ['by sequence', (settlement: Settlement) => settlement],
    ['by id', ({ claimed: _claimed, ...byId }: Settlement) => byId],
  ])('a settle of many finds them by key all the same, %s', async (_, given) => {
    const [hand, small, smallQuiet, end] = await opened()
    await hand.query(waiting(2_000))
    for (const table of ['job', 'body']) await hand.query(`vacuum analyze holdfast.${table}`)
    const settlements = (await settlementsOf(500, smallQuiet)).map(given)
    const { results } = await plansOf(1_000, () => small.jobs.settle({ worker: 'w', settlements }))
    expect(results.every(({ settled }) => settled === 'applied')).toBe(true)
    await end()
  })
})
