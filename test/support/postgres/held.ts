import type pg from 'pg'
import { localSettings } from '../../../src/stores/postgres/connections.ts'
import {
  type Database,
  type Param,
  type Session,
  decoded,
  encoded,
} from '../../../src/stores/postgres/database.ts'

/**
 * One transaction of the test's own, in which operations of the store run and stay uncommitted until it says so:
 * what a slow client, or one that died before its commit, looks like to everybody else.
 */
export interface Held {
  readonly session: Session
  /** For operations that ask for a database: all they do is done in this one transaction. */
  readonly database: Database
  commit(): Promise<void>
  rollback(): Promise<void>
  /** Resolves once `call` waits for a lock that this transaction holds; rejects if it ends without. */
  blocks(call: Promise<unknown>, sessions?: number): Promise<void>
}

/** `looks` is another connection, which looks who waits. */
export async function hold(client: pg.Client, looks: pg.Client): Promise<Held> {
  // Planned as the store's own connections plan.
  await client.query(`begin; ${localSettings(60_000, 'urgent')}`)
  const [{ pid }] = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows as [
    { pid: number },
  ]
  const query = async (text: string, params: readonly Param[] = []): Promise<unknown[][]> => {
    const asked = { text, values: encoded(params), rowMode: 'array' as const, types }
    return (await client.query<unknown[]>(asked)).rows
  }
  const session = { query } as Session
  return {
    session,
    database: databaseIn(session),
    commit: async () => void (await client.query('commit')),
    rollback: async () => void (await client.query('rollback')),
    blocks: (call, sessions = 1) => waits(looks, pid, call, sessions),
  }
}

const types = { getTypeParser: (typeId: number) => (value: string) => decoded(typeId, value) }

function databaseIn(session: Session): Database {
  const refuse = (): never => {
    throw new Error('a held transaction has no such thing')
  }
  return {
    autocommit: (_use, work) => work(session),
    transaction: (_use, work) => work(session, refuse),
    shared: refuse,
    script: refuse,
    close: refuse,
  }
}

/** Those that wait for the session, or for somebody who waits for it. */
const waiting = `with recursive behind as (
    select $1::int as pid
    union select a.pid from behind b join pg_stat_activity a on b.pid = any(pg_blocking_pids(a.pid)))
  select count(*)::int - 1 as n from behind`

async function waits(looks: pg.Client, pid: number, call: Promise<unknown>, sessions: number): Promise<void> {
  const answers: string[] = []
  call.then(
    (value) => void answers.push(JSON.stringify(value)),
    (error: unknown) => void answers.push(String(error)),
  )
  for (;;) {
    const { rows } = await looks.query<{ n: number }>(waiting, [pid])
    if ((rows[0]?.n ?? 0) >= sessions) return
    if (answers.length > 0) throw new Error(`it waited for nobody, and answered ${answers[0]}`)
  }
}
