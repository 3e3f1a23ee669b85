import type { PGliteInterface } from '@electric-sql/pglite'
import { InvalidConfig } from '../../engine/errors.ts'
import { shown } from '../../engine/given.ts'
import type { InspectableStore } from '../../engine/ports/store.ts'
import { migrationSql } from '../postgres/migrations/script.ts'
import { defaultSchema, schemaTexts } from '../postgres/names.ts'
import { storeOver } from '../postgres/store.ts'
import { type ResilientOptions, resilient } from '../resilient.ts'
import { openDatabase } from './connection.ts'

export { SchemaUnusable, StoreClosed, StoreCorrupt } from '../errors.ts'
export { PostgresUnavailable } from '../postgres/errors.ts'
export type { UnavailableReason } from '../postgres/errors.ts'

/** A PGlite of the caller's, which the store never closes. Its data directory must be open in one process only. */
export interface PgliteTarget {
  readonly database: PGliteInterface
}

export interface PgliteOptions extends ResilientOptions {
  /** Default `holdfast`. */
  readonly schema?: string
}

/**
 * Jobs in a PGlite, for one process: PostgreSQL's own code without a server. `migrate()` it once before use. Needs
 * the package `@electric-sql/pglite`. The database's time is this machine's wall clock.
 * A call from within a transaction of the same PGlite waits for that transaction, and ends as `StoreUnavailable`
 * after `callMs` if the transaction waits for it. Throws `InvalidConfig` for what is no PGlite.
 */
export function pgliteStore(target: PgliteTarget, options: PgliteOptions = {}): InspectableStore {
  const { database } = (target ?? {}) as Partial<PgliteTarget>
  if (typeof database?.execProtocolRaw !== 'function') {
    throw new InvalidConfig(`pgliteStore takes { database }, a PGlite, not ${shown(target)}`)
  }
  const raw = rawPgliteStore(database, options)
  return { ...raw, ...resilient(raw, options) }
}

/** The bare store: for the simulation. */
export function rawPgliteStore(
  database: PGliteInterface,
  { schema = defaultSchema, callMs = 5_000 }: Pick<PgliteOptions, 'schema' | 'callMs'> = {},
): InspectableStore {
  const text = schemaTexts(schema)
  const parts = { name: 'pglite', callMs, text, migrationScript: migrationSql({ schema }) }
  return storeOver(openDatabase(database, text), parts)
}
