import type pg from 'pg'
import { unprepared } from './errors.ts'

const name = 'holdfast_probe'

/**
 * Before the first statement: throws `PostgresRefused` where named statements would end up in sessions of others. That
 * is so behind a pooler, which names another process than the one that answers, if the server is told the very name:
 * one that tracks statements makes names of its own. It is asked in one transaction, since that has one session.
 */
export async function requirePreparing(client: pg.ClientBase, callMs: number): Promise<void> {
  const ask = async (query: pg.QueryConfig): Promise<unknown[][]> => {
    const asked = { ...query, rowMode: 'array' as const, query_timeout: callMs }
    return (await client.query<unknown[]>(asked)).rows
  }
  const [answers] = await ask({ text: 'select pg_backend_pid()' })
  const { processID } = client as unknown as { readonly processID: number | null }
  if (answers?.[0] === processID) return
  await ask({ text: 'begin' })
  await ask({ name, text: 'select 1' })
  const there = await ask({ text: `select from pg_prepared_statements where name = '${name}'` })
  if (there.length > 0) await ask({ text: `deallocate ${name}` })
  await ask({ text: 'rollback' })
  if (there.length > 0) throw unprepared()
}
