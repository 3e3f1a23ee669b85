import type SqliteDriver from 'better-sqlite3'
import { InvalidArgument } from '../../engine/errors.ts'
import { shown } from '../../engine/given.ts'
import type { InsertsWithin } from '../../engine/ports/store.ts'
import type { Connection } from './connection.ts'
import { typed } from './errors.ts'
import { insert, stated } from './insert.ts'
import { requireSchema } from './migrations.ts'
import { type Operation, type Statements, createStatements } from './statements.ts'

/**
 * Inserts in the transaction that the caller has open on a handle of its own, or on the one that it gave the store:
 * any handle of the same file. Each is whole or not at all, by a savepoint.
 */
export function insertsWithin(connection: Connection, client: unknown): InsertsWithin {
  requireHandle(client)
  requireSameFile(connection.driver, client)
  const statements = createStatements(client)
  const inside = <R>(work: (operation: Operation) => R): R =>
    marked(client, statements, () => work({ ...statements, nowMs: connection.nowMs() }))
  return {
    insert: async (params) => inside((operation) => insert(operation, params)),
    get: async ({ id }) => inside((operation) => stated(operation, id)),
  }
}

function marked<R>(driver: SqliteDriver.Database, { command }: Statements, work: () => R): R {
  // Asked now: whoever did not await this may have ended the transaction meanwhile.
  if (!driver.inTransaction) {
    throw new InvalidArgument('the handle has no transaction open: begin one on it, and await this in it')
  }
  command('savepoint holdfast').run()
  try {
    requireSchema(driver)
    return work()
  } catch (error) {
    if (driver.inTransaction) command('rollback to holdfast').run()
    throw typed(error, 'no')
  } finally {
    if (driver.inTransaction) command('release holdfast').run()
  }
}

function requireHandle(client: unknown): asserts client is SqliteDriver.Database {
  const { prepare, inTransaction } = (client ?? {}) as Partial<SqliteDriver.Database>
  if (typeof prepare === 'function' && typeof inTransaction === 'boolean') return
  throw new InvalidArgument(`in takes a Database of better-sqlite3, not ${shown(client)}`)
}

/** In memory each handle has a database of its own. */
function requireSameFile(own: SqliteDriver.Database, given: SqliteDriver.Database): void {
  const file = fileOf(own)
  if (own === given || (file !== '' && file === fileOf(given))) return
  throw new InvalidArgument('in takes a handle of the file that the store is in')
}

function fileOf(driver: SqliteDriver.Database): string {
  const main = `select file from pragma_database_list where name = 'main'`
  return driver.prepare<[], string>(main).pluck().get() ?? ''
}
