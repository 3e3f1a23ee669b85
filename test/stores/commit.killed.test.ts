// A process that dies at any step of a commit leaves one effect and one completion, or none of both yet.
import Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import type { Store } from '../../src/engine/ports/store.ts'
import { newDatabase } from '../support/postgres/database.ts'
import { start } from '../support/processes.ts'

interface Place {
  /** A URL or a file. */
  readonly at: string
  readonly store: Store
  readonly entries: () => Promise<number>
  readonly close: () => Promise<void>
}

const newLedger = 'create table ledger (entry text)'
const count = 'select count(*) as n from ledger'

async function onPostgres(): Promise<Place> {
  const { url, drop } = await newDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(newLedger)
  const store = postgresStore({ connectionString: url })
  return {
    at: url,
    store,
    entries: async () => Number((await client.query<{ n: string }>(count)).rows[0]?.n),
    close: async () => {
      await Promise.all([client.end(), store.close()])
      await drop()
    },
  }
}

async function onSqlite(): Promise<Place> {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-killed-'))
  const at = path.join(directory, 'jobs.db')
  const db = new Database(at)
  db.exec(newLedger)
  const store = sqliteStore({ file: at })
  return {
    at,
    store,
    entries: async () => db.prepare<[], number>(count).pluck().get() as number,
    close: async () => {
      db.close()
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Whether what was written then is there, with the success of the job. */
const steps = [
  ['before the transaction', false],
  ['after the write', false],
  ['after the settlement', false],
  ['after COMMIT', true],
  ['after the answer', true],
] as const

const program = new URL('kill/committer.mjs', import.meta.url)

describe.each([
  ['sqlite', onSqlite],
  ['postgres', onPostgres],
] as const)('on %s', (_name, open) => {
  test.each(steps)(
    'a process killed %s: one effect, one completion',
    async (step, kept) => {
      const { at, store, entries, close } = await open()
      await store.migrate()
      expect(await start(program, at, step).ended()).toBe('SIGKILL')
      const left = async () => ({
        entries: await entries(),
        state: (await store.jobs.get({ id: 'job' }))?.state,
      })
      // The server may still be at the COMMIT that it was sent last.
      await expect
        .poll(left, { timeout: 30_000 })
        .toEqual({ entries: kept ? 1 : 0, state: kept ? 'succeeded' : 'running' })
      expect(await start(program, at).ended()).toBe(0)
      const job = await store.jobs.get({ id: 'job' })
      expect({ entries: await entries(), state: job?.state, attempts: job?.attempt }).toEqual({
        entries: 1,
        state: 'succeeded',
        attempts: kept ? 1 : 2,
      })
      await close()
    },
    60_000,
  )
})
