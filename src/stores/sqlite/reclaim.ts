import type { JobRecord } from '../../engine/jobs/record.ts'
import { reclaimed, takenBack } from '../../engine/jobs/transitions.ts'
import type { ReclaimReply } from '../../engine/ports/store.ts'
import { setBackMsMax } from '../../engine/recovery/watch.ts'
import { jobsUnderLease, putMoved } from './moving.ts'
import { isSilent } from './silent.ts'
import type { Operation } from './statements.ts'
import { quietForMs, watchOf } from './watch.ts'

/**
 * Silent lease rows, longest expired first. There is one for each batch that is held, so reading all of them
 * costs less than an index on a column that every heartbeat writes.
 */
const silentLeases = `select l.claim, l.ttl_ms, c.jobs from holdfast_lease l join holdfast_claim c on c.claim = l.claim
  where ${isSilent}
  order by l.expires_at, c.token, l.ttl_ms`

export function reclaim(operation: Operation, { limit }: { readonly limit: number }): ReclaimReply {
  const none = { jobs: [], heldBack: 0, full: false }
  if (limit <= 0) return none
  const watch = watchOf(operation)
  const silent = operation
    .query<[claim: number, ttlMs: number, seqs: string]>(silentLeases)
    .all(setBackMsMax(watch?.sweepMs ?? 0))
  if (silent.length === 0) return none
  const seenMs = quietForMs(operation, watch)
  const takeable = silent.filter(([, ttlMs]) => seenMs >= ttlMs)
  const jobs: JobRecord[] = []
  for (const [claim, ttlMs, seqs] of takeable.slice(0, limit)) {
    operation.command('delete from holdfast_lease where claim = ? and ttl_ms = ?').run(claim, ttlMs)
    for (const job of jobsUnderLease(operation, { claim, ttlMs, seqs })) {
      const taken = reclaimed(job, operation.nowMs)
      putMoved(operation, taken)
      jobs.push(taken)
    }
  }
  return {
    jobs: jobs.map(takenBack),
    heldBack: silent.length - takeable.length,
    full: takeable.length > limit,
  }
}
