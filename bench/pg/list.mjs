// Lists and counts beside 200,000 rows in the reference mix, against the statement that one would write by hand for
// that question alone, over the same tables: rows as the driver gives them, and no promise about a page.
import { postgresStore } from '../../dist/stores/postgres/index.js'
import { inTurns, median, print } from './figures.mjs'
import { aged } from './rows.mjs'
import { connected, freshDatabase } from './server.mjs'

const asked = 100

/** 1,001 runs of 200 jobs one after the other, 20 tenants in turns; the failed ones are dead letters. */
const found = `insert into holdfast.lookup select 'run:R' || g / 200, g from generate_series(1, 200000) g;
  insert into holdfast.lookup select 'tenant=t' || g % 20, g from generate_series(1, 200000) g;
  update holdfast.job set dead_at = seq where state = 3`

/** @param {string} from @param {string} [where] @param {string} [lead] */
const byHand = (from, where = 'true', lead = 'j') => `select j.*, b.* from ${from}
  join holdfast.body b on b.seq = ${lead}.seq where ${where} order by ${lead}.seq desc limit 50`
const ofJobs = 'holdfast.job j'
const ofKeys = 'holdfast.lookup l join holdfast.job j on j.seq = l.seq'

/** @type {Readonly<Record<string, { readonly ask: object, readonly sql: string }>>} */
const questions = {
  'list, first page': { ask: {}, sql: byHand(ofJobs) },
  'list, payloads: false': { ask: { payloads: false }, sql: byHand(ofJobs) },
  'list, failed': { ask: { states: ['failed'] }, sql: byHand(ofJobs, 'j.state = 3') },
  'list, a kind': { ask: { kinds: ['kind'] }, sql: byHand(ofJobs, `j.kind = 'kind'`) },
  'list, a run': { ask: { keys: ['run:R500'] }, sql: byHand(ofKeys, `l.key = 'run:R500'`, 'l') },
  'list, a tenant': { ask: { tenant: 't3' }, sql: byHand(ofKeys, `l.key = 'tenant=t3'`, 'l') },
  'list, running': { ask: { states: ['running'] }, sql: byHand(ofJobs, 'j.state = 1') },
  'list, active': { ask: { states: ['queued', 'running'] }, sql: byHand(ofJobs, 'j.state in (0, 1)') },
  'list, dead letters': { ask: { dead: true }, sql: byHand(ofJobs, 'j.dead_at is not null') },
}
const countsByHand = `select queue, count(*) filter (where state = 0), count(*) filter (where state = 1),
  count(*) filter (where dead_at is not null) from holdfast.job where state in (0, 1, 3) group by queue`

/** @param {string} server @param {{ readonly rounds: number }} options */
export async function lists(server, { rounds }) {
  const url = await freshDatabase(server, 'bench_engine', { durable: false })
  const store = postgresStore({ connectionString: url }, { prepared: true, callMs: 60_000 })
  await store.migrate()
  await connected(url, async (client) => {
    await client.query(aged)
    await client.query(found)
    await client.query('vacuum analyze')
    for (const [name, { ask, sql }] of Object.entries(questions)) {
      const params = { limit: 50, cursor: null, payloads: true, ...ask }
      const runs = await inTurns(rounds, {
        'by hand': () => each(() => client.query({ name, text: sql })),
        'store.queries.list': () => each(() => store.queries.list(params)),
      })
      print(name, 'ms', runs)
    }
    const runs = await inTurns(rounds, {
      'by hand': () => each(() => client.query(countsByHand)),
      'store.queries.counts': () => each(() => store.queries.counts()),
    })
    print('counts', 'ms', runs)
  })
  await store.close()
}

/** The median: now and then one waits for a checkpoint. @param {() => Promise<unknown>} ask */
async function each(ask) {
  for (let n = 0; n < 10; n++) await ask()
  /** @type {number[]} */
  const numbers = []
  for (let n = 0; n < asked; n++) {
    const startedMs = performance.now()
    await ask()
    numbers.push(performance.now() - startedMs)
  }
  return median(numbers)
}
