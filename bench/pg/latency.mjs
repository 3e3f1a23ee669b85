// An idle engine: from the call of enqueue to the first line of the handler, one job at a time.
import { setTimeout as delay } from 'node:timers/promises'
import { createEngine, defineJob } from '../../dist/index.js'
import { postgresStore } from '../../dist/stores/postgres/index.js'
import * as ceiling from './ceiling.mjs'
import { inTurns, print, quantile } from './figures.mjs'
import { connected, freshDatabase } from './server.mjs'

const samples = 200
const pauseMs = 5

/** @param {string} server @param {{ readonly rounds: number }} options */
export async function latency(server, { rounds }) {
  /** @type {Record<string, number[]>} */
  const late = {}
  const noted = (/** @type {string} */ name, /** @type {() => Promise<number[]>} */ measure) => async () => {
    const numbers = await measure()
    ;(late[name] ??= []).push(quantile(numbers, 0.99))
    return quantile(numbers, 0.5)
  }
  /** @type {Record<string, () => Promise<number[]>>} */
  const ways = {
    'ceiling: LISTEN and claim': () => byHand(server),
    'engine, enqueued by itself': () => byEngine(server, { apart: false, notify: false }),
    'engine, enqueued by another, NOTIFY': () => byEngine(server, { apart: true, notify: true }),
    'engine, enqueued by another, polled': () => byEngine(server, { apart: true, notify: false }),
  }
  const contestants = Object.fromEntries(
    Object.entries(ways).map(([name, measure]) => [name, noted(name, measure)]),
  )
  print('idle latency p50', 'ms', await inTurns(rounds, contestants))
  print('idle latency p99', 'ms', late)
}

/** @param {string} server */
async function byHand(server) {
  const url = await freshDatabase(server, 'bench_ceiling')
  /** @type {number[]} */
  const numbers = []
  await connected(url, (listener) =>
    connected(url, (worker) =>
      connected(url, async (producer) => {
        await producer.query(ceiling.tables)
        await listener.query('listen job')
        /** @type {(atMs: number) => void} */
        let got = () => {}
        const claim = async () => {
          const { rows } = await worker.query(ceiling.claim(1))
          if (rows.length > 0) got(performance.now())
        }
        listener.on('notification', () => void claim())
        const add = `with i as (insert into job (queue, payload) values ('q', $1) returning id) select pg_notify('job', '') from i`
        for (let n = 0; n < samples; n++) {
          const arrived = new Promise((/** @type {(atMs: number) => void} */ resolve) => void (got = resolve))
          const sentMs = performance.now()
          await producer.query({ name: 'add', text: add, values: [ceiling.payload] })
          numbers.push((await arrived) - sentMs)
          await delay(pauseMs)
        }
      }),
    ),
  )
  return numbers
}

/**
 * `apart`: the job comes from an engine that does not work, as from another process; then only a poll finds it, or
 * a notification.
 * @param {string} server
 * @param {{ readonly apart: boolean, readonly notify: boolean }} options
 */
async function byEngine(server, { apart, notify }) {
  const connectionString = await freshDatabase(server, 'bench_engine')
  const options = { prepared: true, notify }
  const store = postgresStore({ connectionString }, options)
  await store.migrate()
  /** @type {(atMs: number) => void} */
  let got = () => {}
  const noop = defineJob({ name: 'noop', run: () => got(performance.now()) })
  const worker = createEngine({ store, jobs: [noop], queues: { default: { concurrency: 10 } } })
  const other = postgresStore({ connectionString }, options)
  const producer = apart ? createEngine({ store: other }) : worker
  await worker.start()
  await delay(300)
  /** @type {number[]} */
  const numbers = []
  // Polls are a second apart and more.
  const count = apart && !notify ? 5 : samples
  for (let n = 0; n < count; n++) {
    const arrived = new Promise((/** @type {(atMs: number) => void} */ resolve) => void (got = resolve))
    const sentMs = performance.now()
    await producer.enqueue(noop, ceiling.input)
    numbers.push((await arrived) - sentMs)
    await delay(pauseMs)
  }
  await worker.stop()
  await store.close()
  await other.close()
  return numbers
}
