import type SqliteDriver from 'better-sqlite3'

/** Prepared statements, once a connection. Numbers are numbers, whatever the caller's handle is set to. */
export interface Statements {
  /** A statement that answers rows, as arrays. */
  readonly query: <Row extends readonly unknown[]>(sql: string) => Query<Row>
  /** A statement that answers none. */
  readonly command: (sql: string) => Command
}

/** What an operation works with. */
export interface Operation extends Statements {
  /** Database time in ms, fixed when the operation began; SQL says `holdfast_now()`. */
  readonly nowMs: number
}

interface Query<Row> {
  all(...params: readonly Value[]): Row[]
  get(...params: readonly Value[]): Row | undefined
}
interface Command {
  run(...params: readonly Value[]): { readonly changes: number; readonly lastInsertRowid: number | bigint }
}
export type Value = string | number | null

export function createStatements(driver: SqliteDriver.Database): Statements {
  const queries = new Map<string, SqliteDriver.Statement>()
  const commands = new Map<string, SqliteDriver.Statement>()
  return {
    query: <Row extends readonly unknown[]>(sql: string) => {
      let statement = queries.get(sql)
      if (!statement) queries.set(sql, (statement = driver.prepare(sql).raw(true).safeIntegers(false)))
      return statement as unknown as Query<Row>
    },
    command: (sql) => {
      let statement = commands.get(sql)
      if (!statement) commands.set(sql, (statement = driver.prepare(sql).safeIntegers(false)))
      return statement
    },
  }
}
