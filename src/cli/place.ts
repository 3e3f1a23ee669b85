import { existsSync } from 'node:fs'
import { HoldfastError, InvalidArgument, StoreUnavailable } from '../engine/errors.ts'
import { textOf } from '../engine/jobs/text.ts'
import type { Store } from '../engine/ports/store.ts'
import { inert } from '../report/format.ts'

/** Which production database a command is about. */
export interface PlaceOptions {
  readonly databaseUrl?: string
  readonly file?: string
  readonly schema?: string
}

/** 1: somebody must change something. 2: usage. 3: the database could not be reached; try again. */
export type ExitCode = 0 | 1 | 2 | 3

interface Place {
  /** For people, without user or password. */
  readonly says: string
  readonly open: () => Promise<Store>
}

/** What PostgreSQL alone can be told. */
interface OfPostgres {
  readonly schema?: string | undefined
  readonly runtimeRole?: string | undefined
}

/**
 * Does the work on the store of a place, and closes it; answers the exit code. What the store refuses or does not
 * answer is told in one line on stderr, without secrets. `creates`: a file that is not there is made. Throws `InvalidArgument` for wrong usage.
 */
export async function atPlace(
  given: PlaceOptions & OfPostgres,
  work: (store: Store, says: string) => Promise<ExitCode>,
  { creates = false }: { readonly creates?: boolean } = {},
): Promise<ExitCode> {
  const options = withEnvironment(given)
  const place = placeOf(options)
  const { file } = options
  if (file !== undefined && !creates && !existsSync(file))
    throw new InvalidArgument(`there is no file ${file}`)
  let store: Store | null = null
  try {
    store = await place.open()
    return await work(store, place.says)
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
function withEnvironment<Options extends PlaceOptions>(given: Options): Options {
  if (given.file !== undefined || given.databaseUrl !== undefined) return given
  const { DATABASE_URL: databaseUrl = '' } = process.env
  return databaseUrl === '' ? given : { ...given, databaseUrl }
}

function codeOf(error: HoldfastError): ExitCode {
  if (error instanceof StoreUnavailable) return 3
  return error.code === 'INVALID_CONFIG' ? 2 : 1
}

function placeOf({ databaseUrl, file, schema, runtimeRole }: PlaceOptions & OfPostgres): Place {
  if ((databaseUrl === undefined) === (file === undefined)) {
    throw new InvalidArgument('give either --database-url URL or --file FILE, or set DATABASE_URL')
  }
  if (file !== undefined) {
    if (schema !== undefined || runtimeRole !== undefined)
      throw new InvalidArgument('--schema and --runtime-role are of PostgreSQL, not of a --file')
    return {
      says: `SQLite ${inert(file)}`,
      open: async () => (await import('../stores/sqlite/index.ts')).sqliteStore({ file }),
    }
  }
  const { host, pathname } = urlOf(databaseUrl)
  return {
    says: `PostgreSQL ${inert(`${host}${pathname}`)}, schema ${inert(schema ?? 'holdfast')}`,
    open: async () => {
      const { postgresStore } = await import('../stores/postgres/index.ts')
      const onMigrationWaits = (message: string): void => void process.stderr.write(`${inert(message)}\n`)
      const options = { ...ofPostgres({ schema, runtimeRole }), onMigrationWaits }
      return postgresStore({ connectionString: databaseUrl ?? '' }, options)
    },
  }
}

/** Without what was not given. */
export function ofPostgres({ schema, runtimeRole }: OfPostgres): {
  readonly schema?: string
  readonly runtimeRole?: string
} {
  return { ...(schema !== undefined && { schema }), ...(runtimeRole !== undefined && { runtimeRole }) }
}

/** A wrong one is not shown: it may hold a password all the same. */
function urlOf(text: string | undefined): URL {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : null
  if (url?.protocol === 'postgres:' || url?.protocol === 'postgresql:') return url
  throw new InvalidArgument('--database-url takes a URL like postgres://user@host:5432/database')
}

/** Whatever a driver says, the password of the URL is in no message. */
function withoutSecrets(message: string, { databaseUrl }: PlaceOptions): string {
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
