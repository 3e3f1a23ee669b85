// A job that goes on from its checkpoint, and an operator who pauses, cancels and retries.   node examples/operate.mjs
import { createEngine, defineJob } from 'holdfast'
import { memoryStore } from 'holdfast/stores/memory'

const importRows = defineJob({
  name: 'import-rows',
  retry: { backoff: { kind: 'constant', delayMs: 50 } },
  run: async ({ input, job, attempt, checkpoint, progress }) => {
    for (let row = Number((await checkpoint('next')) ?? 0); row < input.rows; row += 1) {
      console.log(`${job.id}: row ${row}, at attempt ${attempt.number}`)
      await checkpoint('next', row + 1)
      await progress((100 * (row + 1)) / input.rows, 'importing')
      if (row === 1 && attempt.failures === 0) throw new Error('the first attempt breaks off after two rows')
    }
  },
})

const engine = createEngine({
  store: memoryStore(),
  jobs: [importRows],
  queues: { default: { concurrency: 5 } },
})
const succeeded = (id) =>
  new Promise((resolve) => {
    engine.on('attempt.ended', ({ job, end }) => {
      if (job === id && end === 'succeeded') resolve(id)
    })
  })

await engine.start()
const monday = succeeded('monday')
await engine.enqueue(importRows, { rows: 3 }, { id: 'monday' })
await monday

await engine.pause('default') // by any engine on the store, for all of them
const tuesday = succeeded('tuesday')
await engine.enqueue(importRows, { rows: 1 }, { id: 'tuesday' })
console.log(`tuesday: ${await engine.cancel('tuesday')}`)
await engine.retry('tuesday')
console.log(`tuesday: ${(await engine.get('tuesday')).state}`)
await engine.unpause('default')
await tuesday
await engine.stop()
