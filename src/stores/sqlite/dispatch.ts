import { queuedState, undispatchedPlace } from './rows.ts'
import type { Operation } from './statements.ts'

/** The index holds nothing else, so that a sweep in which there is nothing to repair reads nothing. */
const forgotten = `select j.seq, b.id from holdfast_job j indexed by holdfast_job_undispatched
  join holdfast_body b on b.seq = j.seq
  where j.state = ${queuedState} and j.solo = ${undispatchedPlace} and j.updated_at <= ?
  order by j.seq limit ? + 0`

/** `dispatched` of the transitions. What never started was never evicted. */
const dispatch = `update holdfast_job set solo = 0, visible_at = ?, version = version + 1, updated_at = ?
  where seq in (select value from json_each(?))`

export function repairDispatch(
  { query, command, nowMs }: Operation,
  { limit, olderMs }: { readonly limit: number; readonly olderMs: number },
): { readonly ids: readonly string[] } {
  if (limit <= 0) return { ids: [] }
  const jobs = query<[seq: number, id: string]>(forgotten).all(nowMs - olderMs, limit)
  if (jobs.length === 0) return { ids: [] }
  command(dispatch).run(nowMs, nowMs, JSON.stringify(jobs.map(([seq]) => seq)))
  return { ids: jobs.map(([, id]) => id) }
}
