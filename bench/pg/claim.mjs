// One claim: beside 200,000 rows in the reference mix, with few and with very many jobs waiting, and while another
// session pins an old snapshot.
import { randomUUID } from 'node:crypto'
import { postgresStore } from '../../dist/stores/postgres/index.js'
import * as ceiling from './ceiling.mjs'
import { inTurns, median, print } from './figures.mjs'
import { aged, waiting } from './rows.mjs'
import { connected, freshDatabase } from './server.mjs'

const claims = 200

/** @param {string} server @param {{ readonly rounds: number }} options */
export async function claimOnAgedTable(server, { rounds }) {
  const runs = await inTurns(rounds, {
    'ceiling: one table, partial index': () => byHand(server),
    'store.claims.claim': () => byStore(server, aged),
  })
  print('claim beside 200,000', 'ms', runs)
}

/** @param {string} server @param {{ readonly rounds: number }} options */
export async function claimWithBacklog(server, { rounds }) {
  const runs = await inTurns(rounds, {
    '1,000 waiting': () => byStore(server, waiting(1_000)),
    '1,000,000 waiting': () => byStore(server, waiting(1_000_000)),
  })
  print('claim with a backlog', 'ms', runs)
}

/** @param {string} server @param {{ readonly rounds: number }} options */
export async function claimUnderSnapshot(server, { rounds }) {
  /** @type {number[]} */
  const after = []
  const runs = await inTurns(rounds, {
    'first 100 claims': async () => {
      const [first, last] = await pinned(server)
      after.push(last)
      return first
    },
  })
  print('claim, snapshot pinned', 'ms', { ...runs, 'after 10,000 were claimed': after })
}

/** @param {string} server */
async function byHand(server) {
  const url = await freshDatabase(server, 'bench_ceiling', { durable: false })
  return connected(url, async (client) => {
    await client.query(ceiling.tables)
    await client.query(
      `insert into job (queue, state, priority, run_at, payload)
      select 'q', case when g <= 188600 then 2 else 0 end, g % 3, now() - interval '1 day' + g * interval '0.3 s', $1::jsonb
      from generate_series(1, 200000) g`,
      [ceiling.payload],
    )
    await client.query('vacuum analyze')
    return each(() => client.query(ceiling.claim(1)))
  })
}

/** @param {string} server @param {string} fill */
async function byStore(server, fill) {
  const { store, claim, url } = await filled(server, fill)
  await connected(url, (client) => client.query('vacuum analyze'))
  const result = await each(claim)
  await store.close()
  return result
}

/** @param {string} server @returns {Promise<readonly [number, number]>} */
async function pinned(server) {
  const { store, claim, claimMany, url } = await filled(server, waiting(20_000))
  return connected(url, async (other) => {
    await other.query('vacuum analyze')
    await other.query('begin isolation level repeatable read')
    await other.query('select count(*) from holdfast.job')
    const first = await each(claim, 100)
    for (let n = 0; n < 20; n++) await claimMany(500)
    const last = await each(claim, 100)
    await other.query('commit')
    await store.close()
    return [first, last]
  })
}

/** @param {string} server @param {string} fill */
async function filled(server, fill) {
  const url = await freshDatabase(server, 'bench_engine', { durable: false })
  const store = postgresStore({ connectionString: url }, { prepared: true, callMs: 60_000 })
  await store.migrate()
  await connected(url, (client) => client.query(fill))
  const claimMany = async (/** @type {number} */ limit) => {
    const asked = {
      limit,
      queues: [{ queue: 'default', limit }],
      kinds: ['kind'],
      solo: /** @type {const} */ ('pass'),
    }
    const reply = await store.claims.claim({ token: randomUUID(), worker: 'bench', ...asked })
    if (reply.kind === 'void' || reply.jobs.length !== limit) throw new Error('a claim did not get its jobs')
  }
  return { url, store, claimMany, claim: () => claimMany(1) }
}

/** The median: now and then one waits for a checkpoint. @param {() => Promise<unknown>} claim */
async function each(claim, count = claims) {
  for (let n = 0; n < 10; n++) await claim()
  /** @type {number[]} */
  const numbers = []
  for (let n = 0; n < count; n++) {
    const startedMs = performance.now()
    await claim()
    numbers.push(performance.now() - startedMs)
  }
  return median(numbers)
}
