// A process that runs one job of a file, and tells its parent of it. Given a flag, its handler keeps the event loop
// busy until there is a file of that name, or the other is gone.
//   node spinner.mjs FILE NAME [FLAG]
import { existsSync } from 'node:fs'
import { createEngine, defineJob } from '../../../dist/index.js'
import { sqliteStore } from '../../../dist/stores/sqlite/index.js'

const [file, name, flag] = /** @type {[string, string, string?]} */ (process.argv.slice(2))
const tell = (/** @type {object} */ message) => void process.send?.(message)

const store = sqliteStore({ file }, { callMs: 400 })
await store.migrate()
const spin = defineJob({
  name: 'spin',
  leaseTtlMs: 2_000,
  run: () => {
    if (flag === undefined) return name
    tell({ kind: 'spinning' })
    while (!existsSync(flag) && existsSync(file));
    return name
  },
})
const intervals = { sweepMs: 300, heartbeatRetryMs: 100, replyMs: 50, pollMs: 50, pollMsMax: 200 }
const engine = createEngine({ store, jobs: [spin], queues: { default: { concurrency: 1 } }, name, intervals })
for (const type of /** @type {const} */ (['attempt.confirmed', 'attempt.lost', 'loop.stalled'])) {
  engine.on(type, (event) => tell({ ...event, kind: type }))
}
await engine.start()
tell({ kind: 'ready' })
process.on('message', (message) => void (message === 'go' ? engine.enqueue(spin, null, { id: 'x' }) : end()))

process.on('disconnect', () => process.exit())

async function end() {
  await engine.stop()
  await store.close()
  process.disconnect()
}
