import type SqliteDriver from 'better-sqlite3'
import type { Migrated } from '../../engine/ports/store.ts'
import { SchemaUnusable } from '../errors.ts'
import { type Step, steps } from './schema.ts'

/**
 * Creates or upgrades the tables in one transaction: a process that is killed in it leaves what was there.
 * Of several processes at once the first does it all, and the others find it done when they get the lock.
 */
export function migrate(driver: SqliteDriver.Database, wanted: readonly Step[] = steps): Migrated {
  driver.exec(`create table if not exists holdfast_schema (
    version integer primary key, needs integer not null, applied_at integer not null) strict`)
  const found = schemaOf(driver)
  requireWorkable(found, wanted)
  for (const { version, needs, sql } of wanted) {
    if (version <= found.version) continue
    driver.exec(sql)
    driver.prepare('insert into holdfast_schema values (?, ?, holdfast_now())').run(version, needs)
  }
  return { from: found.version, to: Math.max(found.version, known(wanted)) }
}

/** Before the first operation: throws `SchemaUnusable` if `migrate` never ran here, or a newer release's did. */
export function requireSchema(driver: SqliteDriver.Database): void {
  const there = driver.prepare(
    `select 1 from sqlite_master where type = 'table' and name = 'holdfast_schema'`,
  )
  const found = there.get() === undefined ? { version: 0, needs: 0 } : schemaOf(driver)
  requireWorkable(found, steps)
  if (found.version < known(steps)) {
    const state = found.version === 0 ? 'has no tables of Holdfast' : 'was made by an older release'
    throw new SchemaUnusable(`the database ${state}; call migrate() first`)
  }
}

interface Found {
  readonly version: number
  readonly needs: number
}

function schemaOf(driver: SqliteDriver.Database): Found {
  const newest = driver.prepare<[], Found>(
    'select version, needs from holdfast_schema order by version desc limit 1',
  )
  return newest.safeIntegers(false).get() ?? { version: 0, needs: 0 }
}

function requireWorkable({ version, needs }: Found, wanted: readonly Step[]): void {
  if (needs <= known(wanted)) return
  throw new SchemaUnusable(
    `the database has schema version ${version}, which needs a release that knows version ${needs}; ` +
      `this one knows ${known(wanted)}: upgrade holdfast`,
  )
}

function known(wanted: readonly Step[]): number {
  return wanted.at(-1)?.version ?? 0
}
