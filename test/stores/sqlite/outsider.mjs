// Somebody else's program: takes the write lock of a file and keeps it for some time.
//   node outsider.mjs FILE MS
import Database from 'better-sqlite3'

const [file, ms] = /** @type {[string, string]} */ (process.argv.slice(2))
const db = new Database(file, { timeout: 30_000 })
db.exec('begin immediate')
process.send?.({ kind: 'held' })
setTimeout(() => {
  db.exec('commit')
  db.close()
  process.send?.({ kind: 'released' })
  process.disconnect()
}, Number(ms))
