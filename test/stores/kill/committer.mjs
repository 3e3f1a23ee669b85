// One job that commits an entry of a ledger, in a process that dies at the step it is told:
// before the transaction, within it after its own write, after the settlement, after COMMIT and before its answer,
// and after the answer. Without a step it lives, and says when all is done.
import Database from 'better-sqlite3'
import pg from 'pg'
import { createEngine, defineJob } from '../../../dist/index.js'
import { postgresStore } from '../../../dist/stores/postgres/index.js'
import { sqliteStore } from '../../../dist/stores/sqlite/index.js'

const [place = '', step] = process.argv.slice(2)
const leaseTtlMs = 2_000
const intervals = {
  heartbeatMs: 200,
  heartbeatRetryMs: 100,
  sweepMs: 200,
  replyMs: 100,
  pollMs: 50,
  pollMsMax: 100,
}

/** @param {string} at */
function die(at) {
  if (at === step) process.kill(process.pid, 'SIGKILL')
}

/** @param {object} object @param {string} name */
function methodOf(object, name) {
  return /** @type {() => unknown} */ (Reflect.get(object, name))
}

let within = false

function openPostgres() {
  const query = methodOf(pg.Client.prototype, 'query')
  Reflect.set(
    pg.Client.prototype,
    'query',
    /** @this {pg.Client} @param {unknown[]} args */
    function (...args) {
      const { text } = /** @type {{ text?: string }} */ (args[0])
      const ends = within && text === 'commit'
      if (ends) die('after the settlement')
      const answer = /** @type {unknown} */ (Reflect.apply(query, this, args))
      if (!ends) return answer
      return Promise.resolve(answer).then((value) => {
        die('after COMMIT')
        return value
      })
    },
  )
  return postgresStore({ connectionString: place }, { callMs: 400 })
}

function openSqlite() {
  const prepare = methodOf(Database.prototype, 'prepare')
  Reflect.set(
    Database.prototype,
    'prepare',
    /** @this {import('better-sqlite3').Database} @param {string} sql */
    function (sql) {
      const statement = /** @type {object} */ (Reflect.apply(prepare, this, [sql]))
      if (sql !== 'commit') return statement
      const run = methodOf(statement, 'run')
      Reflect.set(statement, 'run', () => {
        if (within) die('after the settlement')
        const answer = run.call(statement)
        if (within) die('after COMMIT')
        return answer
      })
      return statement
    },
  )
  return sqliteStore({ file: place }, { callMs: 400 })
}

/** @param {import('better-sqlite3').Database} db */
function writeSqlite(db) {
  db.prepare('insert into ledger values (?)').run('entry')
  die('after the write')
}

/** @param {import('pg').ClientBase} tx */
async function writePostgres(tx) {
  await tx.query('insert into ledger values ($1)', ['entry'])
  die('after the write')
}

const store = place.startsWith('postgres') ? openPostgres() : openSqlite()
const job = defineJob({
  name: 'entry',
  leaseTtlMs,
  run: async ({ commit }) => {
    die('before the transaction')
    within = true
    if (store.name === 'sqlite') await commit(writeSqlite)
    else await commit(writePostgres)
    die('after the answer')
    within = false
  },
})
const engine = createEngine({ store, jobs: [job], queues: { default: { concurrency: 1 } }, intervals })
await engine.enqueue(job, {}, { id: 'job' })
await engine.start()
while ((await engine.get('job'))?.state !== 'succeeded') await new Promise((again) => setTimeout(again, 20))
await engine.stop()
await store.close()
