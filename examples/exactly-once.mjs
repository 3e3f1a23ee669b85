// Exactly-once effects: each transfer and its job's success are one transaction. Kill it with -9 whenever you like and
// start it again: every transfer is in the ledger once.   node examples/exactly-once.mjs [FILE]
import Database from 'better-sqlite3'
import { createEngine, defineJob } from 'holdfast'
import { sqliteStore } from 'holdfast/stores/sqlite'

const transfer = defineJob({
  name: 'transfer',
  leaseTtlMs: 30_000,
  run: async ({ input, job, sleep, commit }) => {
    await sleep(20)
    // Synchronous, as transactions of better-sqlite3 are. If it throws, nothing of it is kept.
    await commit((db) => {
      db.prepare('insert into ledger (job, amount) values (?, ?)').run(job.id, input.amount)
      return { moved: input.amount }
    })
  },
})

const database = new Database(process.argv[2] ?? 'ledger.db')
// No key keeps a second entry out: nothing but the transaction does.
database.exec('create table if not exists ledger (job text, amount integer)')
const store = sqliteStore({ database })
await store.migrate()
const engine = createEngine({ store, jobs: [transfer], queues: { default: { concurrency: 4 } } })

// The order and its job are one transaction too.
const ids = Array.from({ length: 100 }, (_, n) => `transfer-${n}`)
database.exec('begin immediate')
await engine.enqueueMany(
  ids.map((id, n) => ({ job: transfer, input: { amount: n }, id })),
  { in: database },
)
database.exec('commit')

await engine.start()
const sums = database.prepare('select count(*) as entries, sum(amount) as total from ledger')
for (let left = ids; left.length > 0; await new Promise((again) => setTimeout(again, 100))) {
  const jobs = await Promise.all(left.map((id) => engine.get(id)))
  left = left.filter((_, k) => jobs[k].state !== 'succeeded')
  console.log(`${sums.get().entries} entries`)
}
const { entries, total } = sums.get()
console.log(`all 100 are done: ${entries} entries, total ${total}`)
await engine.stop()
database.close()
