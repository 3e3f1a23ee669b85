// Enqueueing: 10,000 jobs in one call, and one by one with ten calls under way at any time.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { createEngine, defineJob } from '../../dist/index.js'
import { postgresStore } from '../../dist/stores/postgres/index.js'
import * as ceiling from './ceiling.mjs'
import { inTurns, print, rate } from './figures.mjs'
import { freshDatabase } from './server.mjs'

const job = defineJob({ name: 'noop' })
const bulk = 10_000
const callers = 10

/** @typedef {{ readonly rounds: number }} Options */

/** @param {string} server @param {Options} options */
export async function enqueueMany(server, { rounds }) {
  const payloads = Array(bulk).fill(ceiling.payload)
  const requests = Array.from({ length: bulk }, () => ({ job, input: ceiling.input }))
  const twice = async (/** @type {() => Promise<unknown>} */ insert) => {
    return rate(2 * bulk, async () => {
      await insert()
      await insert()
    })
  }
  const runs = await inTurns(rounds, {
    'ceiling: one table': () =>
      withPool(server, ceiling.tables, (pool) =>
        twice(() => pool.query({ ...ceiling.insertMany, values: [payloads] })),
      ),
    'the same with ids of the caller': () =>
      withPool(server, `${ceiling.tables}; ${ceiling.callersIds}`, (pool) =>
        twice(() =>
          pool.query({ ...ceiling.insertManyOnce, values: [payloads.map(() => randomUUID()), payloads] }),
        ),
      ),
    'engine.enqueueMany': () => withEngine(server, (engine) => twice(() => engine.enqueueMany(requests))),
  })
  print('enqueue 10,000 in one', '/s', runs)
}

/** @param {string} server @param {Options} options */
export async function enqueueOneByOne(server, { rounds }) {
  const few = 2_000
  const many = 5_000
  const runs = await inTurns(rounds, {
    'ceiling: coalesced by hand': () =>
      withPool(server, ceiling.tables, (pool) => {
        const add = coalesced(pool)
        return rate(many, () => inFlight(many, () => add(ceiling.payload)))
      }),
    'ceiling: each for itself': () =>
      withPool(server, ceiling.tables, (pool) =>
        rate(few, () => inFlight(few, () => pool.query({ ...ceiling.insertOne, values: [ceiling.payload] }))),
      ),
    'engine.enqueue': () =>
      withEngine(server, (engine) =>
        rate(many, () => inFlight(many, () => engine.enqueue(job, ceiling.input))),
      ),
  })
  print('one by one, 10 at a time', '/s', runs)
}

/** What comes while an insert is in flight goes with the next, two inserts at a time. @param {pg.Pool} pool */
function coalesced(pool) {
  /** @type {{ readonly payload: string, readonly done: () => void }[]} */
  let waiting = []
  let busy = 0
  const flush = async () => {
    if (busy >= 2 || waiting.length === 0) return
    busy += 1
    const group = waiting
    waiting = []
    await pool.query({ ...ceiling.insertMany, values: [group.map(({ payload }) => payload)] })
    busy -= 1
    for (const { done } of group) done()
    await flush()
  }
  return (/** @type {string} */ payload) =>
    new Promise((resolve) => {
      waiting.push({ payload, done: () => resolve(null) })
      if (waiting.length === 1) setImmediate(() => void flush())
    })
}

/** @param {number} count @param {() => Promise<unknown>} work */
async function inFlight(count, work) {
  let begun = 0
  const caller = async () => {
    while (begun++ < count) await work()
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

/** @param {string} server @param {string} tables @param {(pool: pg.Pool) => Promise<number>} measure */
async function withPool(server, tables, measure) {
  const pool = new pg.Pool({ connectionString: await freshDatabase(server, 'bench_ceiling'), max: callers })
  pool.on('error', () => {})
  await pool.query(tables)
  await Promise.all(Array.from({ length: callers }, () => pool.query('select 1')))
  const result = await measure(pool)
  await pool.end()
  return result
}

/** @param {string} server @param {(engine: import('../../dist/index.js').Engine) => Promise<number>} measure */
async function withEngine(server, measure) {
  const connectionString = await freshDatabase(server, 'bench_engine')
  const store = postgresStore({ connectionString }, { prepared: true })
  await store.migrate()
  const engine = createEngine({ store })
  await engine.get('warm')
  const result = await measure(engine)
  await store.close()
  return result
}
