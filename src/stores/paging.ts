import { InvalidArgument } from '../engine/errors.ts'
import { shown } from '../engine/given.ts'
import { listLimitMax } from '../engine/ports/queries.ts'

/**
 * Pages by insertion sequence. A cursor stands for the sequence of the last job of its page, so it holds whatever
 * becomes of that job. It is text from end to end, for a number is exact only up to 2^53.
 */

const prefix = 'seq:'
/** A sequence is a bigint from 1 on. */
const seqMax = 2n ** 63n - 1n

export function cursorAt(seq: string): string {
  return Buffer.from(prefix + seq).toString('base64url')
}

/** The sequence below which the page begins. Throws `InvalidArgument`. */
export function seqBefore(cursor: string): string {
  const said = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : ''
  const seq = said.slice(prefix.length)
  // What decodes leniently does not come out again as it went in.
  if (/^[1-9]\d{0,18}$/.test(seq) && BigInt(seq) <= seqMax && cursorAt(seq) === cursor) return seq
  throw new InvalidArgument(`cursor must be one that a page has answered as its next, not ${shown(cursor)}`)
}

export function pageLimit(limit: number): number {
  return Math.min(listLimitMax, Math.max(1, Math.trunc(limit) || 1))
}

/** A page out of its rows, of which one more than `limit` was asked for. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  seqOf: (row: Row) => string,
): { readonly rows: readonly Row[]; readonly next: string | null } {
  if (rows.length <= limit) return { rows, next: null }
  return { rows: rows.slice(0, limit), next: cursorAt(seqOf(rows[limit - 1] as Row)) }
}
