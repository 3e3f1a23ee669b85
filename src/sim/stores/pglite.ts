import { PGlite } from '@electric-sql/pglite'
import type { InspectableStore } from '../../engine/ports/store.ts'
import { type Database, type Session, encoded } from '../../stores/postgres/database.ts'
import { typed } from '../../stores/postgres/errors.ts'
import { migrationSql } from '../../stores/postgres/migrations/script.ts'
import { contentTables } from '../../stores/postgres/migrations/steps.ts'
import { defaultSchema, schemaTexts } from '../../stores/postgres/names.ts'
import { mark } from '../../stores/postgres/queries/commits.ts'
import { storeOver } from '../../stores/postgres/store.ts'
import { leakGuard } from '../guard/guard.ts'
import { type PreparedStatements, createStatements } from './protocol.ts'
import type { SimulatedStore } from './simulated.ts'

/**
 * One PGlite for all runs of a thread: it takes seconds and hundreds of megabytes to make, and some milliseconds to
 * empty. It answers at once, inside the call, so the world never stands still for it. Its time is the world's.
 */
export async function openPglite(): Promise<SimulatedStore> {
  const pglite = await PGlite.create()
  const guard = leakGuard()
  let time = { nowMs: () => 0 }
  let runs = 0
  const migrationScript = migrationSql()
  await pglite.exec(migrationScript)
  await pglite.exec(settings + unlogged)
  const statements = createStatements((message) =>
    guard.host(time.nowMs(), () => pglite.execProtocolRawSync(message)),
  )
  const text = schemaTexts(defaultSchema)
  const parts = { name: 'pglite', callMs: 5_000, text, migrationScript }
  const store = storeOver(openDatabase(statements), parts)
  return {
    open: async (given): Promise<InspectableStore> => {
      time = given
      await store.reset()
      if (++runs % runsAVacuum === 0) await pglite.exec(`vacuum ${tables.join(', ')}`)
      return { ...store, close: async () => {} }
    },
    close: () => pglite.close(),
  }
}

/** Statements are written for one plan each, and are planned once: see the connections of the production store. */
const settings = `set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set random_page_cost = 1.1;
  set jit = off; set synchronous_commit = off;`

const tables = contentTables.map((table) => `holdfast.${table}`)
/** Nothing of it has to survive anything. */
const unlogged = tables.map((table) => `alter table ${table} set unlogged;`).join(' ')
/** Nobody else vacuums here, and what was deleted would stay: some megabytes a run. It costs a few ms. */
const runsAVacuum = 20

/** One session, which does one thing after another: whoever has a transaction is not interrupted. */
function openDatabase(statements: PreparedStatements): Database {
  const session = {
    query: async (sql, params = []) => statements.run(sql, encoded(params)),
  } as Session
  async function within<R>(work: () => Promise<{ readonly value: R; readonly keep: boolean }>): Promise<R> {
    statements.run('begin', [])
    try {
      const { value, keep } = await work()
      statements.run(keep ? 'commit' : 'rollback', [])
      return value
    } catch (error) {
      statements.run('rollback', [])
      throw typed(error, 'no')
    }
  }

  return {
    autocommit: async (_use, work) => {
      try {
        return await work(session)
      } catch (error) {
        throw typed(error, 'no')
      }
    },
    transaction: (_use, work) =>
      within(async () => {
        let keep = true
        const value = await work(session, () => void (keep = false))
        return { value, keep }
      }),
    // What a handler is given to write through asks like the store itself.
    shared: (work) =>
      within(() => {
        statements.run(`savepoint ${mark}`, [])
        return work(session, session)
      }),
    script: () => Promise.reject(new TypeError('the tables of a simulated store are there')),
    close: async () => {},
  }
}
