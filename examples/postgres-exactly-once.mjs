// Exactly-once effects on PostgreSQL: each transfer, the job that tells of it, and the success of its own job are one
// transaction.   DATABASE_URL=postgres://... node examples/postgres-exactly-once.mjs
import { createEngine, defineJob } from 'holdfast'
import { postgresStore } from 'holdfast/stores/postgres'
import pg from 'pg'

const tell = defineJob({ name: 'tell', run: ({ input }) => ({ told: input.account }) })
const transfer = defineJob({
  name: 'transfer',
  run: async ({ input, job, commit }) => {
    // What is asked of others is asked before; only what this database keeps is exactly once.
    await commit(async (tx) => {
      await tx.query('insert into ledger (job, amount) values ($1, $2)', [job.id, input.amount])
      await engine.enqueue(tell, { account: input.account }, { id: `tell ${job.id}`, in: tx })
      return { moved: input.amount }
    })
  },
})

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
const store = postgresStore({ pool })
await store.migrate()
await pool.query('create table if not exists ledger (job text, amount integer)')
const engine = createEngine({ store, jobs: [transfer, tell], queues: { default: { concurrency: 4 } } })

// A producer's own rows and its jobs: both, or neither.
const client = await pool.connect()
await client.query('begin')
await client.query('create table if not exists orders (id text primary key)')
await client.query('insert into orders values ($1) on conflict do nothing', ['order-1'])
for (let n = 0; n < 20; n++) {
  await engine.enqueue(transfer, { account: 'a', amount: n }, { id: `transfer-${n}`, in: client })
}
await client.query('commit')
client.release()

await engine.start()
for (let left = 20; left > 0; await new Promise((again) => setTimeout(again, 50))) {
  const jobs = await Promise.all(Array.from({ length: 20 }, (_, n) => engine.get(`tell transfer-${n}`)))
  left = jobs.filter((job) => job?.state !== 'succeeded').length
}
const { rows } = await pool.query('select count(*)::int as entries, sum(amount)::int as total from ledger')
console.log(`all are done and told: ${rows[0].entries} entries, total ${rows[0].total}`)
await engine.stop()
await store.close()
await pool.end()
