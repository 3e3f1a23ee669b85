import SqliteDriver from 'better-sqlite3'
import { InvalidConfig } from '../../engine/errors.ts'
import type { Migrated } from '../../engine/ports/store.ts'
import { SqliteUnavailable, isBusy, typed } from './errors.ts'
import { migrate, requireSchema } from './migrations.ts'
import { type Operation, createStatements } from './statements.ts'

/**
 * One handle of a database: its settings and its transactions. Everything here is synchronous, and no
 * statement outlives the call that ran it. It waits for nobody: a lock that is taken is an error at once
 * (`turnstile.ts` tries again without blocking the event loop). What is thrown is typed (`errors.ts`).
 */
export interface Connection {
  readonly driver: SqliteDriver.Database
  /** Runs `work` in one write transaction, under one database time. What it throws undoes everything. */
  write<R>(work: (operation: Operation) => R): R
  /** Runs `work`, which only reads, on one snapshot. */
  read<R>(work: (operation: Operation) => R): R
  nowMs(): number
  migrate(): Migrated
  close(): void
}

export interface ConnectionOptions {
  readonly time: { nowMs(): number }
  /** `full`: a commit that was answered survives a power cut. `normal`: it survives the process alone. */
  readonly synchronous: 'full' | 'normal'
}

/** The write-ahead log is cut back to this after a checkpoint; it is longer only while none can finish. */
const walBytesMax = 64 * 1024 * 1024
/** Every 8 MiB of log. SQLite's own 4 MiB writes the same hot pages back twice as often. */
const checkpointPages = 2_000

/** Opens a file of our own, or `:memory:`. Throws `InvalidConfig` if that can never work. */
export function openFile(file: string, options: ConnectionOptions): Connection {
  let driver: SqliteDriver.Database
  try {
    driver = new SqliteDriver(file, { timeout: 0 })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new InvalidConfig(`cannot open the SQLite database ${file}: ${message}`, { cause: error })
  }
  return connect(driver, options, true)
}

/** Works on the caller's handle: its settings stay the caller's, and it is never closed here. */
export function adopt(driver: SqliteDriver.Database, options: ConnectionOptions): Connection {
  const there = driver.prepare(`select 1 from pragma_function_list where name = 'holdfast_now'`).get()
  if (there) throw new InvalidConfig('this database handle serves another store already; share that store')
  return connect(driver, options, false)
}

function connect(
  driver: SqliteDriver.Database,
  { time, synchronous }: ConnectionOptions,
  own: boolean,
): Connection {
  /** The time of the operation that is running. */
  let fixedMs: number | null = null
  let configured = false
  let usable = false
  const statements = createStatements(driver)
  const beginWrite = own ? () => void statements.command('begin immediate').run() : beginUnder(driver)
  const beginRead = (): void => void statements.command('begin').run()
  // Not marked deterministic: SQLite would be free to keep an answer over operations.
  driver.function('holdfast_now', () => fixedMs ?? time.nowMs())

  function configure(): void {
    if (own && !configured) {
      driver.pragma(`synchronous = ${synchronous}`)
      driver.pragma(`journal_size_limit = ${walBytesMax}`)
      driver.pragma(`wal_autocheckpoint = ${checkpointPages}`)
    }
    configured = true
  }

  function ready(): void {
    if (usable) return
    configure()
    requireSchema(driver)
    usable = true
  }

  function transaction<R>(prepare: () => void, begin: () => void, work: (operation: Operation) => R): R {
    requireNoneOpen(driver)
    let committing = false
    try {
      prepare()
      begin()
      // Read under the lock: of two operations the later one has the later time.
      fixedMs = time.nowMs()
      const result = work({ ...statements, nowMs: fixedMs })
      committing = true
      statements.command('commit').run()
      return result
    } catch (error) {
      undo(driver)
      // A commit that met a lock was undone just now; of any other failed commit nobody knows.
      const failure = typed(error, 'no')
      throw committing && !isBusy(failure) ? typed(error, 'maybe') : failure
    } finally {
      fixedMs = null
    }
  }

  return {
    driver,
    write: (work) => transaction(ready, beginWrite, work),
    read: (work) => transaction(ready, beginRead, work),
    nowMs: () => time.nowMs(),
    migrate: () => {
      const prepare = (): void => {
        configure()
        useWriteAheadLog(driver)
      }
      const migrated = transaction(prepare, beginWrite, () => migrate(driver))
      usable = true
      return migrated
    },
    close: () => {
      if (own) driver.close()
    },
  }
}

/** On the caller's handle a lock must not be waited for inside the driver either: that stops the event loop. */
function beginUnder(driver: SqliteDriver.Database): () => void {
  return () => {
    const theirsMs = Number(driver.pragma('busy_timeout', { simple: true }))
    driver.pragma('busy_timeout = 0')
    try {
      driver.exec('begin immediate')
    } finally {
      driver.pragma(`busy_timeout = ${theirsMs}`)
    }
  }
}

/** Another's transaction on this handle is no place for ours; it is waited for like any lock. */
function requireNoneOpen(driver: SqliteDriver.Database): void {
  if (!driver.inTransaction) return
  throw new SqliteUnavailable('busy', 'SQLITE_BUSY', 'no', new Error('a transaction is open on this handle'))
}

function undo(driver: SqliteDriver.Database): void {
  try {
    if (driver.inTransaction) driver.exec('rollback')
  } catch {
    // What failed first is what the caller hears of; SQLite rolls back by itself when the handle closes.
  }
}

/** The mode is kept in the file. Nothing else lets readers and a writer work side by side. */
function useWriteAheadLog(driver: SqliteDriver.Database): void {
  const mode = driver.pragma('journal_mode = wal', { simple: true })
  if (mode === 'wal' || mode === 'memory') return
  throw new InvalidConfig(
    `the database stays in journal mode ${String(mode)}, since its file system cannot share memory: ` +
      'put the file on a local disk',
  )
}
