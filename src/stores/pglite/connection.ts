import type { PGliteInterface } from '@electric-sql/pglite'
import {
  type Database,
  type Param,
  type Session,
  type Value,
  decoded,
  encoded,
} from '../postgres/database.ts'
import { PostgresUnavailable, typed } from '../postgres/errors.ts'
import { mark } from '../postgres/queries/commits.ts'

/**
 * The operations' database over a PGlite. It is one session in this process: what it does it does alone, one after
 * the other, and no failure of it leaves a statement half answered.
 */
export function openDatabase(pglite: PGliteInterface, textOf: (sql: string) => string): Database {
  type Asks = Pick<PGliteInterface, 'query'>
  const send = async (asks: Asks, sql: string, params: readonly Param[] = []): Promise<Value[][]> => {
    const { rows } = await asks.query<Value[]>(textOf(sql), encoded(params), options)
    return rows
  }

  return {
    autocommit: (_use, work) => {
      let done = false
      const query = async (sql: string, params?: readonly Param[]): Promise<Value[][]> => {
        try {
          const rows = await send(pglite, sql, params)
          done = true
          return rows
        } catch (error) {
          const failure = typed(error, 'maybe')
          throw done && failure instanceof PostgresUnavailable ? failure.afterOthers() : failure
        }
      }
      return work({ query } as Session)
    },
    transaction: async (_use, work) => {
      try {
        return await pglite.transaction(async (tx) => {
          let keep = true
          const session = { query: (sql, params) => send(tx, sql, params) } as Session
          const value = await work(session, () => void (keep = false))
          if (!keep) await tx.rollback()
          return value
        })
      } catch (error) {
        throw typed(error, 'maybe')
      }
    },
    shared: async (work) => {
      try {
        return await pglite.transaction(async (tx) => {
          await tx.exec(`savepoint ${mark}`)
          const session = { query: (sql, params) => send(tx, sql, params) } as Session
          // Without the end of the transaction, which is the store's.
          const lent = { query: tx.query.bind(tx), sql: tx.sql.bind(tx), exec: tx.exec.bind(tx) }
          const { value, keep } = await work(lent, session)
          if (!keep) await tx.rollback()
          return value
        })
      } catch (error) {
        throw typed(error, 'maybe')
      }
    },
    script: async (sql) => {
      try {
        await pglite.exec(sql)
      } catch (error) {
        // The text begins a transaction by itself, which nobody else ends.
        await pglite.exec('rollback').catch(() => {})
        throw typed(error, 'maybe')
      }
    },
    close: async () => {},
  }
}

/** Types of which the caller's PGlite may have been told something else: what goes in is text already. */
const [inOut, lists] = [
  [16, 20, 21, 23, 25, 701],
  [1000, 1005, 1007, 1009, 1016],
]

const options = {
  rowMode: 'array',
  parsers: Object.fromEntries(inOut.map((id) => [id, (text: string) => decoded(id, text)])),
  serializers: Object.fromEntries([...inOut, ...lists].map((id) => [id, (text: string) => text])),
} as const
