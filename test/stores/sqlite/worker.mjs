// A process that enqueues and runs jobs on a file with the built package, and tells its parent of each of them.
//   node worker.mjs FILE NAME JOBS
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createEngine, defineJob } from '../../../dist/index.js'
import { sqliteStore } from '../../../dist/stores/sqlite/index.js'

const [file, name, jobs] = /** @type {[string, string, string]} */ (process.argv.slice(2))
const tell = (/** @type {object} */ message) => void process.send?.(message)

// How fast this machine is must not decide: what is asked is that nobody who waits is refused.
const store = sqliteStore({ file }, { callMs: 30_000 })
await store.migrate()
const work = defineJob({
  name: 'work',
  leaseTtlMs: 90_000,
  run: ({ input }) => {
    tell({ kind: 'ran', id: input })
  },
})
const engine = createEngine({ store, jobs: [work], queues: { default: { concurrency: 20 } }, name })
let failed = 0
engine.on('store.failed', () => (failed += 1))
engine.on('attempt.confirmed', ({ job, settled }) => tell({ kind: 'confirmed', id: job, settled }))

const delay = monitorEventLoopDelay({ resolution: 10 })
delay.enable()
await engine.start()
tell({ kind: 'ready' })
process.on('message', (message) => void (message === 'go' ? produce() : end()))

async function produce() {
  const ids = Array.from({ length: Number(jobs) }, (_, n) => `${name}-${n}`)
  for (let at = 0; at < ids.length; at += 25) {
    await engine.enqueueMany(ids.slice(at, at + 25).map((id) => ({ job: work, input: id, id })))
  }
}

async function end() {
  await engine.stop()
  await store.close()
  tell({ kind: 'over', failed, blockedMs: delay.max / 1e6 })
  process.disconnect()
}
