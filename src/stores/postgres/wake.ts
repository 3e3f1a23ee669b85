/**
 * What a statement that makes jobs due tells those who listen: the names of their queues, as JSON. It is sent in the
 * same transaction, so that nobody looks too early, and once for all that a statement does.
 */

/** PostgreSQL takes fewer than 8000 bytes. Empty text stands for any queue. */
const payloadBytesMax = 7_999

export function channelOf(schema: string): string {
  // Names of 63 bytes at most: two schemas that share a channel only wake each other in vain.
  return `${schema.slice(0, 58)}_wake`
}

/** Null if there is nothing to tell. */
export function payloadOf(queues: Iterable<string>): string | null {
  const names = [...new Set(queues)]
  if (names.length === 0) return null
  const payload = JSON.stringify(names)
  return Buffer.byteLength(payload) > payloadBytesMax ? '' : payload
}

/** Null stands for any queue: so do payloads of a release that says more than this one knows. */
export function queuesOf(payload: string): readonly string[] | null {
  try {
    const names: unknown = JSON.parse(payload)
    return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : null
  } catch {
    return null
  }
}

/** As one more column of a statement. `channel` is a parameter, null for silence; `payload` is an expression. */
export function told(channel: string, payload: string): string {
  return `case when ${channel}::text is not null and ${payload} is not null then pg_notify(${channel}, ${payload})::text end`
}

/** The same, of the rows of a part of the statement, which has a column `queue`. */
export function toldOf(channel: string, rows: string): string {
  const payload = `case when octet_length(q.names) > ${payloadBytesMax} then '' else q.names end`
  return `(select ${told(channel, payload)} from (select json_agg(distinct queue)::text as names from ${rows}) q)`
}
