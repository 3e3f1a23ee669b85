// 20,000 jobs that do nothing, drained by one process: the whole engine, every promise kept.
import pg from 'pg'
import { createEngine, defineJob } from '../../dist/index.js'
import { postgresStore } from '../../dist/stores/postgres/index.js'
import * as ceiling from './ceiling.mjs'
import { inTurns, print, rate } from './figures.mjs'
import { connected, freshDatabase } from './server.mjs'

/** @param {string} server @param {{ readonly rounds: number, readonly jobs: number }} options */
export async function drain(server, { rounds, jobs }) {
  const runs = await inTurns(rounds, {
    'ceiling: one table, 500 x 2': () => byHand(server, jobs, 500, 2),
    engine: () => byEngine(server, jobs, { concurrency: 1_000, connections: 2 }),
  })
  print(`drain ${jobs}`, '/s', runs)
}

/** @param {string} server @param {number} jobs @param {number} limit @param {number} loops */
async function byHand(server, jobs, limit, loops) {
  const pool = new pg.Pool({ connectionString: await freshDatabase(server, 'bench_ceiling'), max: loops })
  pool.on('error', () => {})
  await pool.query(ceiling.tables)
  await pool.query(`insert into job (queue, payload) select 'q', $1::jsonb from generate_series(1, $2)`, [
    ceiling.payload,
    jobs,
  ])
  await pool.query('vacuum analyze')
  const each = Array.from({ length: loops })
  await Promise.all(each.map(() => pool.query('select 1')))
  const loop = async () => {
    for (;;) {
      const { rows } = await pool.query(ceiling.claim(limit))
      if (rows.length === 0) return
      // What a handler that does nothing costs at least.
      for (const row of rows) await Promise.resolve(row)
      const { rowCount } = await pool.query(ceiling.settled(rows))
      if (rowCount !== rows.length) throw new Error('a settle did not apply')
    }
  }
  const result = await rate(jobs, () => Promise.all(each.map(loop)))
  await pool.end()
  return result
}

/**
 * @param {string} server
 * @param {number} jobs
 * @param {{ readonly concurrency: number, readonly connections: number }} options
 */
async function byEngine(server, jobs, { concurrency, connections }) {
  const connectionString = await freshDatabase(server, 'bench_engine')
  const store = postgresStore({ connectionString }, { connections, prepared: true })
  await store.migrate()
  let left = jobs
  /** @type {() => void} */
  let ended = () => {}
  const all = new Promise((resolve) => void (ended = () => resolve(null)))
  const noop = defineJob({
    name: 'noop',
    run: () => {
      if (--left === 0) ended()
    },
  })
  const engine = createEngine({ store, jobs: [noop], queues: { default: { concurrency } } })
  for (let n = 0; n < jobs; n += 10_000) {
    const count = Math.min(10_000, jobs - n)
    await engine.enqueueMany(Array.from({ length: count }, () => ({ job: noop, input: ceiling.input })))
  }
  await connected(connectionString, (client) => client.query('vacuum analyze'))
  const result = await rate(jobs, async () => {
    await engine.start()
    await all
    // Until every settle is known to have applied. To ask without a pause would take a processor from the server.
    while (
      engine.health().running?.worker.settle.pending !== 0 ||
      engine.health().running?.worker.heartbeat.claims !== 0
    ) {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })
  const { rows } = await connected(connectionString, (client) =>
    client.query('select count(*)::int as kept from holdfast.job where state = 2'),
  )
  if (rows[0].kept !== jobs) throw new Error(`${rows[0].kept} of ${jobs} jobs succeeded`)
  await engine.stop()
  await store.close()
  return result
}
