/**
 * What the operations need of a PostgreSQL, whichever driver is behind it. SQL says `holdfast.` for the schema
 * of the store, `now()` for the time, and has no session state.
 */
export interface Database {
  /** Each statement of `work` commits on its own. */
  autocommit<R>(use: Use, work: (session: Session) => Promise<R>): Promise<R>
  /**
   * One transaction, at READ COMMITTED unless `snapshot`. What `work` throws undoes everything, and so does
   * `undo`, without an error.
   */
  transaction<R>(
    use: Use,
    work: (session: Session, undo: () => void) => Promise<R>,
    isolation?: 'snapshot',
  ): Promise<R>
  /**
   * One transaction that a handler shares: `client` is what its statements go through, and what the driver calls one.
   * What `work` answers without `keep` is undone.
   */
  shared<R>(
    work: (client: unknown, session: Session) => Promise<{ readonly value: R; readonly keep: boolean }>,
  ): Promise<R>
  /** Many statements in one text, which begins and commits by itself. */
  script(sql: string): Promise<void>
  close(): Promise<void>
}

/**
 * `urgent`: what keeps leases and ends attempts, and must never queue behind anything else. `handlers`: statements of
 * handlers, which may take as long as a call.
 */
export type Use = 'urgent' | 'common' | 'handlers'

export interface Session {
  query<Row extends readonly Value[]>(sql: string, params?: readonly Param[]): Promise<Row[]>
}

export type Value = string | number | boolean | null
export type Param = Value | readonly Value[]

/** Parameters as text, lists included, so that no driver has an opinion about them. */
export function encoded(params: readonly Param[]): (string | null)[] {
  return params.map((param) =>
    param === null ? null : typeof param === 'object' ? listOf(param) : String(param),
  )
}

function listOf(values: readonly Value[]): string {
  return `{${values.map(elementOf).join(',')}}`
}

function elementOf(value: Value): string {
  return value === null ? 'NULL' : typeof value === 'string' ? quoted(value) : String(value)
}

/** Where nothing else is to be escaped than a list escapes, JSON says the same, and the engine of JavaScript is fast. */
function quoted(text: string): string {
  return jsonAlike.test(text) ? JSON.stringify(text) : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

// oxlint-disable-next-line no-control-regex
const jsonAlike = /^[^\0-\x1f\ud800-\udfff]*$/

/** A value of a result, by the type that the server gives it. */
export function decoded(typeId: number, text: string): Value {
  return numbers.has(typeId) ? Number(text) : typeId === booleanId ? text === 't' : text
}

const booleanId = 16
/** int8, int2, int4, float8: sequences, counters and instants, all of them safe integers. */
const numbers: ReadonlySet<number> = new Set([20, 21, 23, 701])
