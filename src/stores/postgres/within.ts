import { InvalidArgument } from '../../engine/errors.ts'
import { shown } from '../../engine/given.ts'
import type { InsertsWithin } from '../../engine/ports/store.ts'
import { type Session, encoded } from './database.ts'
import { typed } from './errors.ts'
import { insertWithin } from './queries/insert.ts'

/** A client of the caller's, of any driver: what `pg` and PGlite have in common. */
interface Client {
  query(text: string, params?: (string | null)[]): PromiseLike<{ readonly rows: readonly unknown[] }>
}

const savepoint = 'holdfast_enqueue'

/**
 * Inserts in a caller's transaction. Each insert has a savepoint: what is undone in it, or fails, leaves the
 * transaction as it was. Two at once through one client would undo one another's, so that they take turns.
 */
export function createWithin(
  textOf: (sql: string) => string,
  channel: string | null,
): (client: unknown) => InsertsWithin {
  const turns = new WeakMap<Client, Promise<unknown>>()

  function inTurn<R>(client: Client, work: () => Promise<R>): Promise<R> {
    const turn = (turns.get(client) ?? Promise.resolve()).then(work)
    turns.set(
      client,
      turn.catch(() => {}),
    )
    return turn
  }

  return (given) => {
    requireClient(given)
    const session = sessionOver(given, textOf)
    return {
      insert: (params) =>
        inTurn(given, () => marked(given, (undo) => insertWithin(session, params, channel, undo))),
      get: async ({ id }) => {
        const [row] = await inTurn(given, () => session.query<[kind: string, input: string]>(stated, [id]))
        return row ? { spec: { kind: row[0], input: row[1] } } : null
      },
    }
  }
}

const stated = `select j.kind, b.input from holdfast.body b join holdfast.job j on j.seq = b.seq where b.id = $1::text`

function requireClient(given: unknown): asserts given is Client {
  if (typeof (given as Partial<Client> | null | undefined)?.query === 'function') return
  throw new InvalidArgument(
    `in takes a client with query(text, params) that answers { rows }, not ${shown(given)}`,
  )
}

async function marked<R>(client: Client, work: (undo: () => void) => Promise<R>): Promise<R> {
  let keep = true
  try {
    await client.query(`savepoint ${savepoint}`)
  } catch (error) {
    throw isOutside(error) ? outside(error) : typed(error, 'no')
  }
  try {
    const value = await work(() => void (keep = false))
    await client.query(`${keep ? 'release' : 'rollback to'} savepoint ${savepoint}`)
    return value
  } catch (error) {
    // Of a connection that is gone there is nothing to save.
    await Promise.resolve(client.query(`rollback to savepoint ${savepoint}`)).catch(() => {})
    throw typed(error, 'no')
  }
}

/** Adapters may wrap what the server said. */
function isOutside(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown }
  return code === '25P01' || (cause !== undefined && isOutside(cause))
}

function outside(cause: unknown): InvalidArgument {
  return new InvalidArgument(
    'the client has no transaction open: begin one on it first (a pool has one a query, and will not do)',
    { cause },
  )
}

/** Parameters go as text, and are told their type in a cast, whatever the client thinks of lists. */
function sessionOver(client: Client, textOf: (sql: string) => string): Session {
  const query = async (sql: string, params: Parameters<typeof encoded>[0] = []): Promise<unknown[][]> => {
    const text = textOf(sql).replaceAll(/(\$\d+)::(\w+\[\])/g, '$1::text::$2')
    const { rows } = await client.query(text, encoded(params))
    return rows.map((row) => (Array.isArray(row) ? row : Object.values(row as object)))
  }
  return { query } as Session
}
