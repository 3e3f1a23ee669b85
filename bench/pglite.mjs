// Jobs claimed and completed a second on a PGlite in memory, 500 at a time, beside the hand-written ceiling, in turns
// in one run.
//   npm run bench:pglite [-- --rounds N]
// The ceiling checks the epoch and keeps rows. Ours is the store as it ships, `resilient` included.
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { PGlite } from '@electric-sql/pglite'
import { createEngine, defineJob } from '../dist/index.js'
import { pgliteStore } from '../dist/stores/pglite/index.js'
import * as ceiling from './pg/ceiling.mjs'
import { inTurns, print, rate } from './pg/figures.mjs'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const jobs = 5_000
const limit = 500

const database = await PGlite.create()
const job = defineJob({ name: 'noop' })
const store = pgliteStore({ database })
await store.migrate()
await database.exec(ceiling.tables)

async function byHand() {
  await database.exec('truncate job')
  await database.query(ceiling.insertMany.text, [Array(jobs).fill(ceiling.payload)])
  await database.exec('vacuum analyze job')
  return rate(jobs, async () => {
    for (;;) {
      const { rows } = await database.query(ceiling.claim(limit).text)
      if (rows.length === 0) return
      const settle = ceiling.settled(/** @type {{ id: string, epoch: number }[]} */ (rows))
      const { affectedRows } = await database.query(settle.text, settle.values)
      if (affectedRows !== rows.length) throw new Error('a settle did not apply')
    }
  })
}

async function byStore() {
  await store.reset()
  const requests = Array.from({ length: jobs }, () => ({ job, input: ceiling.input }))
  await createEngine({ store }).enqueueMany(requests)
  await database.exec('vacuum analyze')
  const worker = randomUUID()
  const asked = {
    worker,
    limit,
    queues: [{ queue: 'default', limit }],
    kinds: ['noop'],
    solo: /** @type {const} */ ('pass'),
  }
  return rate(jobs, async () => {
    for (;;) {
      const token = randomUUID()
      const reply = await store.claims.claim({ token, ...asked })
      if (reply.kind === 'void' || reply.jobs.length === 0) break
      const settlements = reply.jobs.map(({ spec, epoch, seq }) => ({
        id: spec.id,
        epoch,
        outcome: /** @type {const} */ ({ kind: 'succeeded', result: null }),
        repeated: false,
        claimed: { token, seq },
      }))
      const { results } = await store.jobs.settle({ worker, settlements })
      if (results.some(({ settled }) => settled !== 'applied')) throw new Error('a settle did not apply')
    }
  })
}

console.log(
  `PGlite, ${jobs} jobs, ${limit} at a time, medians of ${values.rounds} rounds; target: ratio >= 0.60`,
)
const runs = await inTurns(Number(values.rounds), { 'ceiling: one table': byHand, 'the store': byStore })
print('claim and settle', '/s', runs)
await database.close()
