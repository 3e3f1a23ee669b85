/** `setBackMsMax` of the watch, as a part of a statement. */
export const beyond = `beyond as materialized (
  select coalesce((select 2 * w.sweep_ms from holdfast.watch w), 0) + 1000 as ms)`

/** `isSilent` of the watch, said in SQL of a lease row `l`; the statement begins with the time and `beyond`. */
export const isSilent = `((select ms from t) >= l.expires_at
  or l.expires_at > (select ms from t) + l.ttl_ms + (select ms from beyond))`
