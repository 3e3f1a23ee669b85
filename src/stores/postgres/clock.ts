/**
 * The database's time in whole ms since 1970, once for each statement. It is cut, not rounded: nothing is due
 * before its time. `now()` is the start of the transaction, and has no schema, so that a test can put its own first.
 */
export const nowMs = 'floor(extract(epoch from now()) * 1000)::bigint'

/** As the first part of a statement: `with ${time}, ...`; then `(select ms from t)` is the time. */
export const time: string = `t as materialized (select ${nowMs} as ms)`
