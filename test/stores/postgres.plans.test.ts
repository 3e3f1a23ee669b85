// What the statements read, on PostgreSQL's own word: by index, no more than they need, however much there is.
// The reference mix (contract 26.1) is 200,000 rows, 11,400 of them waiting; then 100,000 more wait (filling a
// million takes minutes here, and a plan does not change between the two; bench/pg/claim.mjs measures it).
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aged, waiting } from '../../bench/pg/rows.mjs'
import type { Settlement, Store } from '../../src/engine/ports/store.ts'
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
