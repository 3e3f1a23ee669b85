// Sets a file up, at the same moment as others, or dies in the middle of it.
//   node migrator.mjs FILE [die]
import Database from 'better-sqlite3'
import { steps } from '../../../dist/stores/sqlite/schema.js'
import { sqliteStore } from '../../../dist/stores/sqlite/index.js'

const [file, die] = /** @type {[string, string?]} */ (process.argv.slice(2))
process.once('message', () => void (die ? dieInTheMiddle() : migrate()))
process.send?.({ kind: 'ready' })

function dieInTheMiddle() {
  const db = new Database(file)
  db.pragma('journal_mode = wal')
  db.exec('begin immediate; create table holdfast_schema (version integer primary key)')
  for (const { sql } of steps) db.exec(sql)
  process.kill(process.pid, 'SIGKILL')
}

async function migrate() {
  const store = sqliteStore({ file })
  await store.migrate()
  await store.jobs.get({ id: 'nobody' })
  await store.close()
  process.disconnect()
}
