import type pg from 'pg'
import { type ConnectionOptions, type Held, createConnections, localSettings } from './connections.ts'
import { type Database, type Param, type Session, type Value, decoded, encoded } from './database.ts'
import { PostgresUnavailable, typed } from './errors.ts'
import { lend } from './lend.ts'
import { mark } from './queries/commits.ts'

export interface PoolOptions extends ConnectionOptions {
  /** A statement as it is written, to one on the schema of the store. */
  readonly text: (sql: string) => string
}

/** The operations' database over `pg`: statements, transactions, and what is known after a failure of each. */
export function openDatabase(options: PoolOptions): Database {
  const connections = createConnections(options)
  const sender = createSender(options)

  return {
    autocommit: (use, work) => connections.holding(use, (held) => work(autocommitting(held, sender))),
    transaction: (use, work, isolation) =>
      connections.holding(use, (held) => {
        const level = isolation === 'snapshot' ? 'repeatable read' : 'read committed'
        return within(held, sender, level, async () => {
          let keep = true
          const session = { query: (sql, params) => sender.send(held.client, sql, params) } as Session
          const value = await work(session, () => void (keep = false))
          return { value, keep }
        })
      }),
    shared: (work) =>
      connections.holding('handlers', (held) =>
        within(held, sender, 'read committed', async () => {
          await sender.plain(held.client, `savepoint ${mark}`)
          const lent = lend(held.client)
          const session = { query: (sql, params) => sender.send(held.client, sql, params) } as Session
          try {
            return await work(lent.client, session)
          } finally {
            lent.takeBack()
          }
        }),
      ),
    script: (sql) =>
      connections.holding('common', async ({ client, spoil }) => {
        try {
          await client.query(sql)
        } catch (error) {
          // It may have stopped within its own transaction, and that is nobody else's.
          spoil(null)
          throw typed(error, 'maybe')
        }
      }),
    close: () => connections.end(),
  }
}

/** Each statement commits on its own. Once one has, a later failure cannot say that nothing was done. */
function autocommitting(held: Held, sender: Sender): Session {
  let done = false
  const query = async (sql: string, params?: readonly Param[]): Promise<Value[][]> => {
    const send = (): Promise<Value[][]> => sender.send(held.client, sql, params)
    try {
      const rows = held.bounded
        ? await send()
        : await within(held, sender, 'read committed', async () => ({ value: await send(), keep: true }))
      done = true
      return rows
    } catch (error) {
      held.spoil(error)
      const failure = typed(error, 'maybe')
      throw done && failure instanceof PostgresUnavailable ? failure.afterOthers() : failure
    }
  }
  return { query } as Session
}

/** Runs `work` in one transaction. Only of a commit without an answer nobody knows what became of it. */
async function within<R>(
  { client, use, bounded, leftMs, spoil }: Held,
  { plain }: Sender,
  isolation: string,
  work: () => Promise<{ readonly value: R; readonly keep: boolean }>,
): Promise<R> {
  let committing = false
  try {
    const local = bounded ? '' : `; ${localSettings(leftMs, use)}`
    await plain(client, `begin isolation level ${isolation}${local}`)
    const { value, keep } = await work()
    committing = keep
    await plain(client, keep ? 'commit' : 'rollback')
    return value
  } catch (error) {
    if (!spoil(error) && !committing) await plain(client, 'rollback').catch(spoil)
    throw typed(error, committing ? 'maybe' : 'no')
  }
}

interface Sender {
  /** A statement of the store with its parameters. */
  readonly send: (client: pg.ClientBase, sql: string, params?: readonly Param[]) => Promise<Value[][]>
  /** Text without parameters or rows. */
  readonly plain: (client: pg.ClientBase, text: string) => Promise<void>
}

function createSender({ prepared, callMs, text: textOf }: PoolOptions): Sender {
  const names = new Map<string, string>()

  /** The server keeps a prepared statement for each connection, so the name is that of the text. */
  function nameOf(text: string): string {
    let name = names.get(text)
    if (name === undefined) names.set(text, (name = `holdfast_${names.size}`))
    return name
  }

  return {
    send: async (client, sql, params = []) => {
      const text = textOf(sql)
      const query = { text, values: encoded(params), rowMode: 'array', types, query_timeout: callMs } as const
      const { rows } = await client.query(
        (prepared ? { ...query, name: nameOf(text) } : query) as unknown as pg.QueryArrayConfig,
      )
      return rows as Value[][]
    },
    plain: async (client, text) => {
      await client.query({ text, query_timeout: callMs } as pg.QueryConfig)
    },
  }
}

/** Of our own, whatever parsers the program has set for the driver. */
const types = {
  getTypeParser: (typeId: number) => (value: string) => decoded(typeId, value),
}
