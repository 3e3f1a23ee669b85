// Enqueues one job after the other in a directory, and says which were answered, until it is killed.
//   node writer.mjs DIRECTORY
import { pgliteStore } from '../../../dist/stores/pglite/index.js'
import { inserting } from './inserting.mjs'

const store = pgliteStore({ dataDir: process.argv[2] ?? '' }, { callMs: 30_000 })
await store.migrate()
for (let n = 0; ; n++) {
  await store.jobs.insert(inserting(`job-${n}`))
  process.send?.({ kind: 'inserted', id: `job-${n}` })
}
