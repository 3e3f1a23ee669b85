// 12,000 heartbeats of 200 jobs with inputs of 5.5 kB: what they write.
import { randomBytes } from 'node:crypto'
import { createEngine, defineJob } from '../../dist/index.js'
import { postgresStore } from '../../dist/stores/postgres/index.js'
import { connected, freshDatabase } from './server.mjs'

const jobs = 200
const turns = 60

/** WAL is counted for the whole server, so nothing else may write to it meanwhile. @param {string} server */
export async function heartbeats(server) {
  const connectionString = await freshDatabase(server, 'bench_engine')
  const filling = postgresStore({ connectionString })
  await filling.migrate()
  const job = defineJob({ name: 'kind' })
  const input = randomBytes(4_100).toString('base64')
  await createEngine({ store: filling }).enqueueMany(Array.from({ length: jobs }, () => ({ job, input })))
  const claimed = await filling.claims.claim({
    token: 'bench',
    worker: 'bench',
    limit: jobs,
    queues: [{ queue: 'default', limit: jobs }],
    kinds: ['kind'],
    solo: 'pass',
  })
  if (claimed.kind === 'void' || claimed.jobs.length !== jobs)
    throw new Error('the claim did not get its jobs')
  await filling.close()
  const store = postgresStore({ connectionString }, { prepared: true })
  await connected(connectionString, async (client) => {
    await client.query('vacuum analyze')
    await client.query('checkpoint')
    const before = await sizes(client)
    for (let n = 0; n < turns; n++) {
      const { held } = await store.claims.renew({ worker: 'bench', tokens: ['bench'] })
      if (held.length !== jobs) throw new Error('a heartbeat lost jobs')
    }
    await store.close()
    const after = await sizes(client)
    const beats = jobs * turns
    const rewritten = Number(after.updates) - Number(before.updates)
    const hot = (Number(after.hot) - Number(before.hot)) / rewritten
    console.log(
      `heartbeats               ${beats} of ${jobs} jobs: ${rewritten} rows written, ${(100 * hot).toFixed(1)} % heap-only,` +
        ` grown by ${Number(after.bytes) - Number(before.bytes)} bytes,` +
        ` ${((Number(after.wal) - Number(before.wal)) / beats).toFixed(1)} bytes of WAL each`,
    )
  })
}

/** @param {import('pg').Client} client */
async function sizes(client) {
  // A session tells what it has counted at its end.
  await client.query('select pg_sleep(0.5)')
  const { rows } = await client.query(`select sum(n_tup_upd) as updates, sum(n_tup_hot_upd) as hot,
      sum(pg_total_relation_size(relid)) as bytes, pg_current_wal_lsn() - '0/0' as wal
    from pg_stat_user_tables where schemaname = 'holdfast'`)
  return rows[0]
}
