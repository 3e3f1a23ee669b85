// A worker that also enqueues, and says what happens to it. Nothing here catches what nobody expects: it would end.
//   node worker.mjs URL NAME
import { StoreUnavailable, createEngine, defineJob } from '../../../dist/index.js'
import { postgresStore } from '../../../dist/stores/postgres/index.js'

const [connectionString, name] = /** @type {[string, string]} */ (process.argv.slice(2))
const tell = (/** @type {object} */ message) => void process.send?.(message)

/** Jobs that are under way until the test lets them end. */
let letGo = () => {}
const released = /** @type {Promise<void>} */ (new Promise((resolve) => (letGo = resolve)))

const long = defineJob({
  name: 'long',
  run: async (/** @type {import('../../../dist/index.js').AttemptContext<object>} */ { job }) => {
    tell({ kind: 'started', id: job.id })
    await released
  },
})
const short = defineJob({
  name: 'short',
  run: async (/** @type {import('../../../dist/index.js').AttemptContext<object>} */ { job }) => {
    tell({ kind: 'started', id: job.id })
  },
})

const callMs = 1_500
const store = postgresStore(
  { connectionString },
  { callMs, onConnectionLost: ({ message }) => tell({ kind: 'lost', message }) },
)
const engine = createEngine({
  store,
  name,
  jobs: [long, short],
  queues: { default: { concurrency: 8 } },
  intervals: {
    heartbeatMs: 1_000,
    heartbeatRetryMs: 500,
    sweepMs: 500,
    pollMs: 200,
    pollMsMax: 1_000,
    replyMs: 500,
  },
  observer: { event: (event) => tell({ kind: event.type }) },
})
const options = { leaseTtlMs: 6_000 }

let feeding = true

/** Enqueues one job after the other; what the store does not take is asked of it again. */
async function feed() {
  for (let n = 0; feeding; n++) {
    const id = `${name}-short-${n}`
    while (!(await enqueued(id)));
    tell({ kind: 'acknowledged', id })
    await new Promise((resolve) => void setTimeout(resolve, 50))
  }
}

async function enqueued(/** @type {string} */ id) {
  try {
    await engine.enqueue(short, {}, { ...options, id })
    return true
  } catch (error) {
    if (error instanceof StoreUnavailable) return false
    throw error
  }
}

for (let n = 0; n < 4; n++) {
  const id = `${name}-long-${n}`
  await engine.enqueue(long, {}, { ...options, id })
  tell({ kind: 'acknowledged', id })
}
await engine.start()
const fed = feed()

process.on('message', (what) => {
  if (what === 'health') tell({ kind: 'health', health: engine.health() })
  else void finish()
})

async function finish() {
  feeding = false
  await fed
  letGo()
  await engine.stop({ drainMs: 20_000 })
  await store.close()
  process.disconnect()
}
