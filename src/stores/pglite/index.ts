import { PGlite, type PGliteInterface } from '@electric-sql/pglite'
import { InvalidConfig } from '../../engine/errors.ts'
import { requireKnown, requireObject, shown } from '../../engine/given.ts'
import type { InspectableStore } from '../../engine/ports/store.ts'
import { systemProcesses, systemRandom } from '../../engine/system.ts'
import { migrationSql } from '../postgres/migrations/script.ts'
import { defaultSchema, schemaTexts } from '../postgres/names.ts'
import { storeOver } from '../postgres/store.ts'
import { type ResilientOptions, resilient } from '../resilient.ts'
import { openDatabase } from './connection.ts'
import { lock } from './lock.ts'

export { SchemaUnusable, StoreClosed, StoreCorrupt, StoreInUse } from '../errors.ts'
export { PostgresUnavailable } from '../postgres/errors.ts'
export type { UnavailableReason } from '../postgres/errors.ts'

/**
 * Where the jobs are: a directory of the store's own, or a PGlite of the caller's, which the store never closes. A
 * directory is locked for as long as it is open. That of a caller's PGlite must be open in one process only, and
 * nobody sees to it.
 */
export type PgliteTarget = { readonly dataDir: string } | { readonly database: PGliteInterface }

export interface PgliteOptions extends ResilientOptions {
  /** Default `holdfast`. */
  readonly schema?: string
}

/**
 * Jobs in a PGlite, for one process: PostgreSQL's own code without a server. `migrate()` it once before use; that also
 * waits for the database to come up, which takes seconds. Needs the package `@electric-sql/pglite`. The database's
 * time is this machine's wall clock.
 * A call from within a transaction of the same PGlite waits for that transaction, and ends as `StoreUnavailable`
 * after `callMs` if the transaction waits for it.
 * Throws `StoreInUse` if the directory is open already, here or in another process, and `InvalidConfig` for what is
 * neither a directory nor a PGlite.
 */
export function pgliteStore(target: PgliteTarget, options: PgliteOptions = {}): InspectableStore {
  requireObject('options', options, InvalidConfig)
  requireKnown('options', options, { schema: true, callMs: true, clock: true }, InvalidConfig)
  const { database, dataDir } = (target ?? {}) as {
    readonly database?: PGliteInterface
    readonly dataDir?: unknown
  }
  if (typeof target === 'object' && target !== null) {
    requireKnown("pgliteStore's first argument", target, { dataDir: true, database: true }, InvalidConfig)
  }
  if (dataDir !== undefined) return ownStore(dataDir, options)
  if (typeof database?.execProtocolRaw !== 'function') {
    throw new InvalidConfig(`pgliteStore takes { dataDir } or { database }, a PGlite, not ${shown(target)}`)
  }
  const raw = rawPgliteStore(database, options)
  return { ...raw, ...resilient(raw, options) }
}

/** What can be refused is refused before anything is opened. */
function ownStore(dataDir: unknown, options: PgliteOptions): InspectableStore {
  // Others have no files on this machine, or a notation of PGlite's own.
  if (typeof dataDir !== 'string' || dataDir === '' || dataDir.includes('://')) {
    throw new InvalidConfig(`dataDir must be the path of a directory, not ${shown(dataDir)}`)
  }
  schemaTexts(options.schema ?? defaultSchema)
  const held = lock(dataDir, systemProcesses, () => systemRandom.id('incarnation'))
  const database = new PGlite(held.directory)
  // Each call hears of it by itself.
  database.waitReady.catch(() => {})
  let closed: Promise<void> | null = null
  const close = async (): Promise<void> => {
    try {
      // What never came up has nothing to close.
      await database.waitReady.then(
        () => database.close(),
        () => {},
      )
    } finally {
      held.release()
    }
  }
  const raw = { ...rawPgliteStore(database, options), close: () => (closed ??= close()) }
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
