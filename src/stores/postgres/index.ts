import type { PoolConfig } from 'pg'
import { InvalidConfig } from '../../engine/errors.ts'
import { type Names, requireKnown, requireObject, shown } from '../../engine/given.ts'
import type { InspectableStore } from '../../engine/ports/store.ts'
import { systemClock } from '../../engine/system.ts'
import { type ResilientOptions, resilient } from '../resilient.ts'
import { createHints } from './hints.ts'
import { type MigrationOptions, migrationSql } from './migrations/script.ts'
import { tellingWaits } from './migrations/waits.ts'
import { defaultSchema, schemaTexts } from './names.ts'
import { openDatabase } from './pool.ts'
import { storeOver } from './store.ts'
import { channelOf } from './wake.ts'

export { SchemaUnusable, StoreClosed, StoreCorrupt } from '../errors.ts'
export { PostgresRefused, PostgresUnavailable } from './errors.ts'
export type { UnavailableReason } from './errors.ts'
export { type MigrationOptions, migrationSql } from './migrations/script.ts'

/**
 * Where the database is: a connection string, or a `Pool` of `pg`. A pool says how to connect, and is neither used
 * nor closed: the store opens connections of its own, so that handlers which take all of the pool's cannot keep
 * a heartbeat waiting.
 */
export type PostgresTarget = { readonly connectionString: string } | { readonly pool: PostgresPool }

/** A `Pool` of `pg`, of any version. */
export interface PostgresPool {
  readonly options: object
}

export interface PostgresOptions extends ResilientOptions, MigrationOptions {
  /**
   * Most connections for claiming, enqueueing and reading; default 4. Two more are kept for what is urgent, and as
   * many again are opened for handlers that `commit`.
   */
  readonly connections?: number
  /**
   * Named prepared statements; default false. They spare the server the planning of each statement, about a
   * millisecond for a claim. Behind a pooler that does not track them (PgBouncer does from 1.21 on, with
   * `max_prepared_statements`) the first call is refused with `PostgresRefused`.
   */
  readonly prepared?: boolean
  /**
   * Workers are told at once of jobs that become due, by NOTIFY; without, their polls find them. Default true: each
   * started engine with queues listens on one more connection. Behind a transaction pooler give the connection
   * string of the server itself, for listening alone, or false. What notifies commits one after the other on its
   * server: false also spares a database that takes thousands of small enqueues a second.
   */
  readonly notify?: boolean | { readonly connectionString: string }
  /**
   * Told once of each connection that ended without being asked to, idle or in use, or was given up because nobody
   * knew its state. Calls are repeated or fail by themselves: this is for logs and for counting. What it throws is
   * ignored.
   */
  readonly onConnectionLost?: (error: Error) => void
  /**
   * Told while `migrate()` waits for a lock of another session, every `callMs`: which session that is. It gives up
   * after a minute by itself. What it throws is ignored.
   */
  readonly onMigrationWaits?: (message: string) => void
}

const targetText = "postgresStore's first argument"
const optionNames: Names<PostgresOptions> = {
  schema: true,
  runtimeRole: true,
  callMs: true,
  clock: true,
  connections: true,
  prepared: true,
  notify: true,
  onConnectionLost: true,
  onMigrationWaits: true,
}

/**
 * Jobs in a PostgreSQL database, version 15 or newer; `migrate()` it once before use. Needs the package `pg`.
 * Nothing is kept in a session, so it works behind a transaction pooler too. The database's time is the server's.
 * A call that waits for a connection or a lock, or runs, for longer than `callMs` is `StoreUnavailable`; the
 * server ends it by itself after nine tenths of that.
 * Throws `InvalidConfig` for options that can never work.
 */
export function postgresStore(target: PostgresTarget, options: PostgresOptions = {}): InspectableStore {
  requireObject('options', options, InvalidConfig)
  requireKnown('options', options, optionNames, InvalidConfig)
  const clock = options.clock ?? systemClock
  const { callMs = 5_000, schema = defaultSchema, connections = 4, prepared = false, notify = true } = options
  if (!Number.isSafeInteger(connections) || connections < 1) {
    throw new InvalidConfig(`connections must be a whole number >= 1, not ${shown(connections)}`)
  }
  const connection = connectionOf(target)
  requireKnown(targetText, target, { connectionString: true, pool: true }, InvalidConfig)
  const common = { clock, callMs, onLost: harmless(options.onConnectionLost) }
  const text = schemaTexts(schema)
  const channel = notify === false ? null : channelOf(schema)
  const listening = listeningOf(notify, connection)
  const hints = channel !== null && listening && createHints({ ...common, connection: listening, channel })
  const database = openDatabase({ ...common, connection, connections, prepared, text })
  const store = storeOver(database, {
    name: 'postgres',
    callMs,
    text,
    migrationScript: migrationSql(options),
    grants: options.runtimeRole !== undefined,
    channel,
  })
  const waits = { database, clock, everyMs: callMs, tell: harmless(options.onMigrationWaits) }
  const raw: InspectableStore = {
    ...store,
    ...(hints && { hints: { listen: hints.listen } }),
    migrate: () => tellingWaits(waits, store.migrate),
    close: async () => void (await Promise.all([hints && hints.close(), database.close()])),
  }
  return { ...raw, ...resilient(raw, { ...options, callMs }) }
}

/** How to connect for listening; null where nobody is to listen. */
function listeningOf(notify: unknown, connection: PoolConfig): PoolConfig | null {
  if (notify === true) return connection
  if (notify === false) return null
  const { connectionString } = (typeof notify === 'object' && notify !== null ? notify : {}) as {
    readonly connectionString?: unknown
  }
  if (typeof connectionString === 'string') return { connectionString }
  throw new InvalidConfig(`notify must be true, false or { connectionString }, not ${shown(notify)}`)
}

/** A listener that throws within an event of the driver would end the process. */
function harmless<T>(listener: ((told: T) => void) | undefined): (told: T) => void {
  return (told) => {
    try {
      listener?.(told)
    } catch {
      // As the option says.
    }
  }
}

function connectionOf(target: unknown): PoolConfig {
  const { connectionString, pool } = (typeof target === 'object' && target !== null ? target : {}) as {
    readonly connectionString?: unknown
    readonly pool?: { readonly options?: unknown } | null
  }
  if (typeof connectionString === 'string') return { connectionString }
  if (typeof pool?.options === 'object' && pool.options !== null) return pool.options
  throw new InvalidConfig(`postgresStore takes { connectionString } or { pool }, not ${shown(target)}`)
}
