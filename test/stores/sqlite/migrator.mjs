// Sets files up, each at the same moment as others do, or dies in the middle of it.
import Database from 'better-sqlite3'
import { steps } from '../../../dist/stores/sqlite/schema.js'
import { sqliteStore } from '../../../dist/stores/sqlite/index.js'

process.on('message', (message) => {
  const { file, said, dies } = /** @type {{ file: string, said: string, dies?: boolean }} */ (message)
  void (dies ? dieInTheMiddle(file) : migrate(file, said))
})
process.send?.({ kind: 'ready' })

function dieInTheMiddle(/** @type {string} */ file) {
  const db = new Database(file)
  db.pragma('journal_mode = wal')
  db.exec('begin immediate; create table holdfast_schema (version integer primary key)')
  for (const { sql } of steps) db.exec(sql)
  process.kill(process.pid, 'SIGKILL')
}

async function migrate(/** @type {string} */ file, /** @type {string} */ said) {
  const store = sqliteStore({ file })
  await store.migrate()
  await store.jobs.get({ id: 'nobody' })
  await store.close()
  process.send?.({ kind: said })
}
