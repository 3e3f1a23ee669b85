// One job on the memory store: define, start, enqueue, drain.   node examples/first-job.mjs
import { createEngine, defineJob } from 'holdfast'
import { memoryStore } from 'holdfast/stores/memory'

const greet = defineJob({
  name: 'greet',
  run: async ({ input, attempt }) => {
    if (attempt.number === 1) throw new Error('the first attempt always fails here')
    console.log(`hello ${input.name}, at attempt ${attempt.number}`)
  },
  retry: { backoff: { kind: 'constant', delayMs: 50 } },
})

const engine = createEngine({ store: memoryStore(), jobs: [greet], queues: { default: { concurrency: 5 } } })
const greeted = new Promise((resolve) => {
  engine.on('attempt.ended', ({ end }) => {
    if (end === 'succeeded') resolve(end)
  })
})
await engine.start()
await engine.enqueue(greet, { name: 'world' })
await greeted
await engine.stop()
