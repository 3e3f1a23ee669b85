// Inserts, claims and settles without end, and says what was answered, until it is killed.
//   node writer.mjs FILE
import { sqliteStore } from '../../../dist/stores/sqlite/index.js'

const [file] = /** @type {[string]} */ (process.argv.slice(2))
const store = sqliteStore({ file })
await store.migrate()
const queue = 'q'
const solo = /** @type {const} */ ('take')
const claiming = { worker: 'w', limit: 2, queues: [{ queue, limit: 2 }], kinds: ['k'], solo }
for (let n = 0; ; n++) {
  const spec = {
    id: `${n}`,
    kind: 'k',
    queue,
    band: 2,
    input: JSON.stringify('x'.repeat(n % 9_000)),
    inputVersion: 1,
    maxAttempts: 3,
    maxEvictions: 3,
    backoffMs: [0],
    jitter: false,
    leaseTtlMs: 30_000,
    timeoutMs: 60_000,
    tenant: null,
    keys: [],
    keepMs: 604_800_000,
    lineage: null,
    metadata: null,
    traceparent: null,
    enqueuedAtMs: 0,
  }
  await store.jobs.insert({ insertId: `${n}`, jobs: [{ spec, due: { delayMs: 0 } }] })
  process.send?.({ kind: 'inserted', id: spec.id })
  const claimed = await store.claims.claim({ token: `t${n}`, ...claiming })
  for (const job of claimed.kind === 'claimed' ? claimed.jobs : []) {
    const { id } = job.spec
    const outcome = /** @type {const} */ ({ kind: 'succeeded', result: `"${id}"` })
    await store.jobs.settle({
      worker: 'w',
      settlements: [{ id, epoch: job.epoch, outcome, repeated: false }],
    })
    process.send?.({ kind: 'settled', id })
  }
}
