// Inserts two jobs, of which one is there already: that is a transaction. Whoever started it stops it in the middle.
//   node frozen.mjs URL ID
import { postgresStore } from '../../../dist/stores/postgres/index.js'

const [connectionString, id] = /** @type {[string, string]} */ (process.argv.slice(2))
const store = postgresStore({ connectionString }, { callMs: 1_000 })

/** @param {string} id */
function job(id) {
  const budget = { maxAttempts: 3, maxEvictions: 3, backoffMs: [0], jitter: false }
  const times = { leaseTtlMs: 30_000, timeoutMs: 60_000, enqueuedAtMs: 0 }
  const what = { id, kind: 'k', queue: 'q', band: 2, input: '{}', inputVersion: 1 }
  return {
    spec: {
      ...what,
      ...budget,
      ...times,
      tenant: null,
      keys: [],
      keepMs: 604_800_000,
      lineage: null,
      metadata: null,
      traceparent: null,
    },
    due: { delayMs: 0 },
  }
}

process.once('message', () => {
  void store.jobs.insert({ insertId: id, jobs: [there, job(id)] })
})
const there = job(`${id}-there`)
await store.jobs.insert({ insertId: `${id}-first`, jobs: [there] })
process.send?.({ kind: 'ready' })
