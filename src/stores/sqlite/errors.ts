import SqliteDriver from 'better-sqlite3'
import { InvalidArgument, StoreUnavailable } from '../../engine/errors.ts'
import { StoreClosed, StoreCorrupt } from '../errors.ts'

/** What SQLite's result codes mean to a caller, and what to do about them. */

export type UnavailableReason = 'busy' | 'full' | 'io' | 'read-only' | 'cannot-open' | 'out-of-memory'

/**
 * The database cannot be used now, and may be later without any change to the program: another process holds
 * the lock, the disk is full, a volume went read-only. The engine goes through it as through any outage.
 * `reason` is stable; `sqliteCode` is SQLite's own.
 */
export class SqliteUnavailable extends StoreUnavailable {
  readonly reason: UnavailableReason
  readonly sqliteCode: string
  constructor(reason: UnavailableReason, sqliteCode: string, sent: 'no' | 'maybe', cause: Error) {
    super(`${advice[reason]} (${sqliteCode}: ${cause.message})`, sent, { cause })
    this.reason = reason
    this.sqliteCode = sqliteCode
  }
}

const advice: Readonly<Record<UnavailableReason, string>> = {
  busy: 'another connection holds the write lock of the database; end transactions sooner',
  full: 'the disk, or the page limit of the database, is full; free some space',
  io: 'the file system failed; check the disk, and that the database is on a local one',
  'read-only': 'the database cannot be written; check the permissions of the file and of its directory',
  'cannot-open': 'the database file cannot be opened; check that its directory exists and can be written',
  'out-of-memory': 'SQLite ran out of memory',
}

/** By SQLite's primary result code. PROTOCOL is a lost race for the lock of the write-ahead log. */
const reasons: ReadonlyMap<string, UnavailableReason> = new Map([
  ['BUSY', 'busy'],
  ['LOCKED', 'busy'],
  ['PROTOCOL', 'busy'],
  ['FULL', 'full'],
  ['IOERR', 'io'],
  ['READONLY', 'read-only'],
  ['CANTOPEN', 'cannot-open'],
  ['NOMEM', 'out-of-memory'],
])

/** The typed form of what the driver threw; what is no failure of the database is handed back as it is. */
export function typed(error: unknown, sent: 'no' | 'maybe'): unknown {
  if (error instanceof TypeError && error.message === 'The database connection is not open') {
    return new StoreClosed('this store was closed; open another', { cause: error })
  }
  if (!(error instanceof SqliteDriver.SqliteError)) return error
  const primary = /^SQLITE_([A-Z]+)/.exec(error.code)?.[1] ?? ''
  const reason = reasons.get(primary)
  if (reason) return new SqliteUnavailable(reason, error.code, sent, error)
  if (primary === 'CORRUPT' || primary === 'NOTADB') {
    const what = primary === 'CORRUPT' ? 'the database file is damaged' : 'the file is no SQLite database'
    return new StoreCorrupt(`${what}; restore it from a copy (${error.code})`, { cause: error })
  }
  if (primary === 'TOOBIG') {
    return new InvalidArgument('a text is longer than SQLite can hold', { cause: error })
  }
  return error
}

/** Whether another connection was in the way and nothing was done, so that trying again is due. */
export function isBusy(error: unknown): error is SqliteUnavailable {
  return error instanceof SqliteUnavailable && error.reason === 'busy' && error.sent === 'no'
}
