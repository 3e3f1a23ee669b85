import { HoldfastError, InvalidArgument, StoreUnavailable } from '../../engine/errors.ts'
import { SchemaUnusable, StoreClosed, StoreCorrupt } from '../errors.ts'

/**
 * What a failure of PostgreSQL, or of the way to it, means to a caller. It is told by the SQLSTATE, since the
 * severity is translated into the server's language; what a driver throws by itself often has no code at all, and
 * is told by its message.
 */

export type UnavailableReason =
  | 'connection'
  | 'read-only'
  | 'conflict'
  | 'timeout'
  | 'resources'
  | 'starting or stopping'

/**
 * The database cannot do this now, and may later without any change to the program. The engine goes through it as
 * through any outage. `reason` is stable; `sqlState` is the server's own, or null if it said nothing.
 */
export class PostgresUnavailable extends StoreUnavailable {
  readonly reason: UnavailableReason
  readonly sqlState: string | null
  constructor(reason: UnavailableReason, sqlState: string | null, sent: 'no' | 'maybe', cause: Error) {
    super(`${says(reason, sqlState)} (${sqlState === null ? '' : `${sqlState}: `}${told(cause)})`, sent, {
      cause,
    })
    this.reason = reason
    this.sqlState = sqlState
  }

  /** The same where earlier statements of the call have taken effect. */
  afterOthers(): PostgresUnavailable {
    return new PostgresUnavailable(this.reason, this.sqlState, 'maybe', this.cause as Error)
  }
}

/** The server will not have this user, database or connection; somebody must change something. */
export class PostgresRefused extends HoldfastError {
  readonly code = 'STORE_REFUSED'
}

const advice: Readonly<Record<UnavailableReason, string>> = {
  connection: 'the connection to PostgreSQL failed or ended',
  'read-only': 'PostgreSQL is read-only, as a standby is before it is promoted',
  conflict: 'another transaction was in the way',
  timeout: 'PostgreSQL was too slow, or held up by a lock',
  resources: 'PostgreSQL ran out of connections, memory or disk',
  'starting or stopping': 'PostgreSQL is starting or stopping',
}

function says(reason: UnavailableReason, sqlState: string | null): string {
  return sqlState === '55P03'
    ? 'another session holds a lock that this waited for; pg_stat_activity shows who is idle in transaction'
    : advice[reason]
}

/** With the row or the table that was waited for, where the server says which. */
function told(cause: Error): string {
  const { where } = cause as Partial<ServerError>
  return typeof where === 'string' ? `${cause.message}, ${where.split('\n')[0]}` : cause.message
}

interface ServerError extends Error {
  readonly code: string
  readonly constraint?: string
  readonly where?: string
}

/**
 * The typed form of what a driver threw; what is no failure of the database is handed back as it is. A statement
 * that the server refused took no effect; of one that got no answer, `unanswered` says what is known.
 */
export function typed(error: unknown, unanswered: 'no' | 'maybe'): unknown {
  if (!(error instanceof Error) || error instanceof HoldfastError) return error
  if (/^Cannot use a pool after calling end|PGlite is clos/.test(error.message)) {
    return new StoreClosed('this store was closed; open another', { cause: error })
  }
  if (error.message.startsWith('PGlite failed to initialize')) {
    return new StoreCorrupt('the directory holds no database that this PGlite can open', { cause: error })
  }
  if (!isServerError(error)) {
    return isLost(error) ? new PostgresUnavailable('connection', null, unanswered, error) : error
  }
  return ofState(error, unanswered)
}

function ofState(error: ServerError, unanswered: 'no' | 'maybe'): unknown {
  const { code } = error
  const [, family] = families.find(([states]) => states.test(code)) ?? []
  if (family === undefined) return error
  if (typeof family !== 'function') {
    return new PostgresUnavailable(family, code, endsConnection(code) ? unanswered : 'no', error)
  }
  return family(error)
}

/** The first that matches decides. */
const families: readonly (readonly [RegExp, UnavailableReason | ((error: ServerError) => unknown)])[] = [
  [/^08P01$/, refused],
  [/^08/, 'connection'],
  [/^57P0[123]$/, 'starting or stopping'],
  [/^57P0|^25P03$/, 'connection'],
  [/^57014$|^55P03$/, 'timeout'],
  [/^25006$/, 'read-only'],
  [/^40/, 'conflict'],
  [/^53|^58030$/, 'resources'],
  [/^28|^3D000$|^42501$/, refused],
  [/^42P01$|^3F000$|^42703$/, schemaless],
  [/^42P05$|^26000$/, unprepared],
  [/^22|^54/, invalid],
  [/^XX00[12]$/, corrupt],
]

/** States with which the server also ends the connection: whether the statement took effect is then unknown. */
function endsConnection(code: string): boolean {
  return /^08|^57P0|^25P03/.test(code)
}

function refused(error: ServerError): PostgresRefused {
  return new PostgresRefused(`PostgreSQL refuses (${error.code}): ${error.message}`, { cause: error })
}

/** A prepared statement that is there already, or is not: another's session has been under it. */
export function unprepared(cause?: Error): PostgresRefused {
  const message =
    'prepared: true does not work here: a pooler is in between that does not track prepared statements. Switch it ' +
    'off, connect to the server itself, or have the pooler track them (PgBouncer 1.21, max_prepared_statements)'
  return new PostgresRefused(message, { cause })
}

/**
 * The typed form of what kept a connection from being made. What no family knows is a matter of addresses, keys and
 * certificates, told by the driver or by TLS: somebody must change something.
 */
export function unconnected(error: unknown): unknown {
  const failure = typed(error, 'no')
  if (failure instanceof HoldfastError || !(failure instanceof Error)) return failure
  return new PostgresRefused(`cannot connect to PostgreSQL: ${failure.message}`, { cause: failure })
}

function schemaless(error: ServerError): SchemaUnusable {
  const message = `the tables of Holdfast are not there, or not all: call migrate() first (${error.message})`
  return new SchemaUnusable(message, { cause: error })
}

function invalid(error: ServerError): InvalidArgument {
  return new InvalidArgument(`PostgreSQL cannot store this (${error.code}): ${error.message}`, {
    cause: error,
  })
}

function corrupt(error: ServerError): StoreCorrupt {
  return new StoreCorrupt(`the database is damaged (${error.code}): ${error.message}`, { cause: error })
}

/** Whether nothing more may be sent over the connection that this came from: it is not known in which state it is. */
export function spoils(error: unknown): boolean {
  if (!isServerError(error)) return true
  // A standby stays one: only a new connection can lead to the server that was promoted.
  return endsConnection(error.code) || error.code === '25006'
}

export function isDuplicate(error: unknown): boolean {
  return isServerError(error) && error.code === '23505'
}

/** A pooler that does not know a parameter of the connection says so and closes it. */
export function isUnknownParameter(error: unknown): boolean {
  return isServerError(error) && error.code === '08P01' && /startup parameter/.test(error.message)
}

function isServerError(error: unknown): error is ServerError {
  // Node's own `EPIPE` looks like a SQLSTATE, but has no severity.
  if (!(error instanceof Error)) return false
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && typeof severity === 'string'
}

/** Failures of sockets, and those that the driver reports by a message alone. */
function isLost(error: Error): boolean {
  const { code } = error as { readonly code?: unknown }
  if (typeof code === 'string' && /^E[A-Z]+(?:_[A-Z]+)*$/.test(code)) return !code.startsWith('ERR_')
  return lostMessages.test(error.message)
}

const lostMessages =
  /^Connection terminated|^Client (?:has encountered a connection error|was closed)|^Query read timeout|^timeout exceeded when trying to connect|^timeout expired|socket disconnected/
