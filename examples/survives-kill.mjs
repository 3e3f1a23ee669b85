// A hundred jobs in one file. Kill it with -9 whenever you like and start it again: it goes on where it was,
// and finishes.   node examples/survives-kill.mjs [FILE]
import { createEngine, defineJob } from 'holdfast'
import { sqliteStore } from 'holdfast/stores/sqlite'

const step = defineJob({
  name: 'step',
  run: async ({ input, attempt, sleep }) => {
    await sleep(100)
    console.log(`done ${input.n} at attempt ${attempt.number}`)
  },
})
const store = sqliteStore({ file: process.argv[2] ?? 'jobs.db' })
await store.migrate()
const engine = createEngine({ store, jobs: [step], queues: { default: { concurrency: 4 } } })
const ids = Array.from({ length: 100 }, (_, n) => `step-${n}`)
// The same ids again are the same jobs: a second start adds nothing.
await engine.enqueueMany(ids.map((id, n) => ({ job: step, input: { n }, id })))
await engine.start()
for (let left = ids; left.length > 0; await new Promise((again) => setTimeout(again, 200))) {
  const jobs = await Promise.all(left.map((id) => engine.get(id)))
  left = left.filter((_, k) => jobs[k].state !== 'succeeded')
}
console.log('all 100 are done')
await engine.stop()
await store.close()
