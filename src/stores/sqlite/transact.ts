import { InvalidArgument, LeaseLost } from '../../engine/errors.ts'
import type { InsertParams, InsertReply, SettleParams, SettleReply } from '../../engine/ports/store.ts'
import type { Connection } from './connection.ts'
import { insert } from './insert.ts'
import { settle } from './settle.ts'
import type { Turnstile } from './turnstile.ts'

/**
 * The store's part in a caller's transaction: jobs that exist only if the caller's rows do, and results that
 * are settled only together with what a handler wrote. All of it is synchronous, as transactions of the driver
 * are, and nothing in it is ever repeated: an error ends the transaction, and the caller runs it again or not.
 */
export interface SqliteTransaction {
  /** Database time of the transaction, in ms. */
  readonly nowMs: number
  /** As `jobs.insert`. A conflict is an answer, not an error: throw to undo the rest. */
  insert(params: InsertParams): InsertReply
  /**
   * As `jobs.settle`, but all or nothing: if one of the settlements does not apply it throws `LeaseLost`, and the
   * transaction can then only be rolled back, for what a superseded attempt wrote must not be committed.
   */
  settle(params: SettleParams): SettleReply
}

export interface Transactions {
  /**
   * Runs `work` in one write transaction on the store's handle and commits. It waits for the lock like every
   * call, without blocking the event loop, and then runs `work` once. Whatever it throws rolls back, and so does
   * a promise that it returns (`InvalidArgument`), since nothing may be awaited inside.
   * Rejects with `StoreUnavailable`: `sent` is `'maybe'` if the commit itself failed, else `'no'`.
   */
  transact<R>(work: (tx: SqliteTransaction) => R): Promise<R>
  /**
   * The same inside a transaction that the caller has begun on the handle that it gave the store, and that the
   * caller ends. Each operation is whole or not at all. After `LeaseLost` the caller must roll back.
   * Throws `InvalidArgument` if no transaction is open, and afterwards once that one has ended.
   */
  join(): SqliteTransaction
}

export function createTransactions(connection: Connection, writes: Turnstile): Transactions {
  const { driver } = connection
  return {
    transact: async (work) => {
      let begun = false
      const outcome = await writes.run(() => {
        try {
          return {
            value: connection.write((operation) => {
              begun = true
              return worked(connection, operation.nowMs, work)
            }),
          }
        } catch (error) {
          // Once it has begun it is over: a lock that it meets later is for the caller to hear of.
          if (!begun) throw error
          return { error }
        }
      })
      if ('error' in outcome) throw outcome.error
      return outcome.value
    },
    join: () => {
      if (!driver.inTransaction)
        throw new InvalidArgument('begin a transaction on the handle of the store first')
      return transactionOf(connection, connection.nowMs(), [])
    },
  }
}

function worked<R>(connection: Connection, nowMs: number, work: (tx: SqliteTransaction) => R): R {
  const lost: LeaseLost[] = []
  const result = work(transactionOf(connection, nowMs, lost))
  if (lost[0]) throw lost[0]
  if (!(result instanceof Promise)) return result
  result.catch(() => {})
  throw new InvalidArgument('the work of a transaction must be synchronous: nothing was committed')
}

function transactionOf(connection: Connection, nowMs: number, lost: LeaseLost[]): SqliteTransaction {
  const requireUsable = (): void => {
    if (lost[0]) throw lost[0]
    if (!connection.driver.inTransaction) throw new InvalidArgument('this transaction has ended')
  }
  return {
    nowMs,
    insert: (params) => {
      requireUsable()
      return connection.within(nowMs, (operation) => insert(operation, params))
    },
    settle: (params) => {
      requireUsable()
      return connection.within(nowMs, (operation) => {
        const reply = settle(operation, params)
        const at = reply.results.findIndex(({ settled }) => settled !== 'applied')
        if (at < 0) return reply
        const { id, epoch } = params.settlements[at] ?? {}
        const error = new LeaseLost(`job ${id} is not running at epoch ${epoch} any more: roll back`)
        lost.push(error)
        throw error
      })
    },
  }
}
