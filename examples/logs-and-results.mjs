// A producer that waits for a result, and somebody who follows what the job says.   node examples/logs-and-results.mjs
import { createEngine, defineJob } from 'holdfast'
import { memoryStore } from 'holdfast/stores/memory'

const count = defineJob({
  name: 'count-words',
  retry: { backoff: { kind: 'constant', delayMs: 50 } },
  run: ({ input, attempt, log }) => {
    log('counting', { attempt: attempt.number })
    if (attempt.number === 1) {
      log.warn('the first attempt always fails here')
      throw new Error('not yet')
    }
    return { words: input.text.split(' ').length }
  },
})
const refuse = defineJob({
  name: 'refuse',
  retry: { maxAttempts: 1 },
  run: () => {
    throw new Error('never')
  },
})

const engine = createEngine({
  store: memoryStore(),
  jobs: [count, refuse],
  queues: { default: { concurrency: 5 } },
})
await engine.start()

const job = await engine.enqueue(count, { text: 'to be or not to be' }, { id: 'hamlet' })
const result = job.result({ timeoutMs: 30_000 })
for await (const { n, level, text } of engine.logs.follow(job.id)) console.log(`${n} ${level}: ${text}`)
console.log(`${job.id}: ${(await result).words} words`)

const refused = await engine.enqueue(refuse, null, { id: 'refused' })
await refused.result().catch(({ code, error }) => console.log(`${refused.id}: ${code}, ${error.message}`))
await engine.stop()
