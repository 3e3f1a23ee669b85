// Sets schemas up, each at the same moment as others do, and enqueues a job in each.
//   node migrator.mjs URL ID
import { postgresStore } from '../../../dist/stores/postgres/index.js'

const [connectionString, id] = /** @type {[string, string]} */ (process.argv.slice(2))
process.on('message', (schema) => void migrate(String(schema)))
process.send?.({ kind: 'ready' })

async function migrate(/** @type {string} */ schema) {
  const store = postgresStore({ connectionString }, { schema, callMs: 30_000 })
  await store.migrate()
  const budget = { maxAttempts: 3, maxEvictions: 3, backoffMs: [0], jitter: false }
  const times = { leaseTtlMs: 30_000, timeoutMs: 60_000, enqueuedAtMs: 0 }
  const what = { id, kind: 'k', queue: 'q', band: 2, input: '{}', inputVersion: 1 }
  const spec = {
    ...what,
    ...budget,
    ...times,
    tenant: null,
    keys: [],
    keepMs: 604_800_000,
    lineage: null,
    metadata: null,
    traceparent: null,
  }
  await store.jobs.insert({ insertId: id, jobs: [{ spec, due: { delayMs: 0 } }] })
  await store.close()
  process.send?.({ kind: schema })
}
