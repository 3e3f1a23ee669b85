// How fast the PostgreSQL store and the engine on it are, beside a hand-written ceiling, in turns in one run.
//   npm run bench:pg [-- --only drain,enqueue --rounds N]
// DATABASE_URL names the server; without it one is started, as it comes, with fsync on. See bench/README.md.
import { parseArgs } from 'node:util'
import { claimOnAgedTable, claimUnderSnapshot, claimWithBacklog } from './pg/claim.mjs'
import { drain } from './pg/drain.mjs'
import { enqueueMany, enqueueOneByOne } from './pg/enqueue.mjs'
import { heartbeats } from './pg/heartbeat.mjs'
import { latency } from './pg/latency.mjs'
import { lists } from './pg/list.mjs'
import { openServer } from './pg/server.mjs'

const measurements = {
  drain,
  bulk: enqueueMany,
  enqueue: enqueueOneByOne,
  latency,
  claim: claimOnAgedTable,
  backlog: claimWithBacklog,
  snapshot: claimUnderSnapshot,
  heartbeat: heartbeats,
  lists,
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(measurements).join(',') },
    rounds: { type: 'string', default: '5' },
    jobs: { type: 'string', default: '20000' },
  },
})
const options = { rounds: Number(values.rounds), jobs: Number(values.jobs) }
const wanted = values.only.split(',').map((name) => {
  const measure =
    /** @type {Record<string, (server: string, options: { readonly rounds: number, readonly jobs: number }) => Promise<void>>} */ (
      measurements
    )[name]
  if (!measure)
    throw new Error(`there is no measurement ${name}; there are ${Object.keys(measurements).join(', ')}`)
  return measure
})
const server = await openServer()
try {
  for (const measure of wanted) await measure(server.url, options)
} finally {
  await server.stop()
}
