import { HoldfastError, InvalidArgument, StoreUnavailable } from '../../engine/errors.ts'
import type { Migrated, Store } from '../../engine/ports/store.ts'
import { textOf } from '../../engine/jobs/text.ts'
import { inert } from '../../report/format.ts'

export interface MigrateOptions {
  readonly databaseUrl?: string
  readonly file?: string
  readonly schema?: string
  readonly runtimeRole?: string
  readonly sql?: boolean
}

/** 1: somebody must change something. 2: usage. 3: the database could not be reached; try again. */
type ExitCode = 0 | 1 | 2 | 3

interface Place {
  /** For people, without user or password. */
  readonly says: string
  readonly open: () => Promise<Store>
}

/** Creates or upgrades the tables, or prints the SQL for that; answers the exit code. Throws for wrong usage. */
export async function migrate(given: MigrateOptions): Promise<ExitCode> {
  if (given.sql) return printSql(given)
  const options = withEnvironment(given)
  const place = placeOf(options)
  let store: Store | null = null
  try {
    store = await place.open()
    process.stdout.write(`${place.says}: ${summaryOf(await store.migrate(), options)}\n`)
    return 0
  } catch (error) {
    if (error instanceof InvalidArgument) throw error
    if (!(error instanceof HoldfastError)) throw new InvalidArgument(withoutSecrets(textOf(error), options))
    const message = withoutSecrets(error.message, options)
    process.stderr.write(`error: ${place.says}: ${message.split('\n').map(inert).join('\n')}\n`)
    return codeOf(error)
  } finally {
    await store?.close()
  }
}

/** A password in the arguments can be read by everybody on the machine. */
function withEnvironment(given: MigrateOptions): MigrateOptions {
  if (given.file !== undefined || given.databaseUrl !== undefined) return given
  const { DATABASE_URL: databaseUrl = '' } = process.env
  return databaseUrl === '' ? given : { ...given, databaseUrl }
}

function codeOf(error: HoldfastError): ExitCode {
  if (error instanceof StoreUnavailable) return 3
  return error.code === 'INVALID_CONFIG' ? 2 : 1
}

async function printSql({ databaseUrl, file, schema, runtimeRole }: MigrateOptions): Promise<ExitCode> {
  if (databaseUrl !== undefined || file !== undefined) {
    throw new InvalidArgument(
      '--sql touches no database, and is PostgreSQL: leave --database-url and --file out',
    )
  }
  const { migrationSql } = await import('../../stores/postgres/index.ts')
  process.stdout.write(migrationSql(ofPostgres({ schema, runtimeRole })))
  return 0
}

function placeOf({ databaseUrl, file, schema, runtimeRole }: MigrateOptions): Place {
  if ((databaseUrl === undefined) === (file === undefined)) {
    throw new InvalidArgument(
      'give either --database-url URL or --file FILE (or --sql, to see what would be done)',
    )
  }
  if (file !== undefined) {
    if (schema !== undefined || runtimeRole !== undefined)
      throw new InvalidArgument('--schema and --runtime-role are of PostgreSQL, not of a --file')
    return {
      says: `SQLite ${inert(file)}`,
      open: async () => (await import('../../stores/sqlite/index.ts')).sqliteStore({ file }),
    }
  }
  const { host, pathname } = urlOf(databaseUrl)
  return {
    says: `PostgreSQL ${inert(`${host}${pathname}`)}, schema ${inert(schema ?? 'holdfast')}`,
    open: async () => {
      const { postgresStore } = await import('../../stores/postgres/index.ts')
      const onMigrationWaits = (message: string): void => void process.stderr.write(`${inert(message)}\n`)
      const options = { ...ofPostgres({ schema, runtimeRole }), onMigrationWaits }
      return postgresStore({ connectionString: databaseUrl ?? '' }, options)
    },
  }
}

function ofPostgres(given: {
  readonly schema: string | undefined
  readonly runtimeRole: string | undefined
}): { readonly schema?: string; readonly runtimeRole?: string } {
  const { schema, runtimeRole } = given
  return { ...(schema !== undefined && { schema }), ...(runtimeRole !== undefined && { runtimeRole }) }
}

/** A wrong one is not shown: it may hold a password all the same. */
function urlOf(text: string | undefined): URL {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : null
  if (url?.protocol === 'postgres:' || url?.protocol === 'postgresql:') return url
  throw new InvalidArgument('--database-url takes a URL like postgres://user@host:5432/database')
}

function summaryOf({ from, to }: Migrated, { runtimeRole }: MigrateOptions): string {
  const did =
    from === to
      ? `the tables are at version ${to} already`
      : from === 0
        ? `the tables were made, at version ${to}`
        : `the tables were upgraded from version ${from} to ${to}`
  return runtimeRole === undefined ? did : `${did}; role ${inert(runtimeRole)} may work with them`
}

/** Whatever a driver says, the password of the URL is in no message. */
function withoutSecrets(message: string, { databaseUrl }: MigrateOptions): string {
  if (databaseUrl === undefined || !URL.canParse(databaseUrl)) return message
  const { password, searchParams } = new URL(databaseUrl)
  const secrets = [password, decoded(password), searchParams.get('password') ?? '']
  return secrets
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '***'), message)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
