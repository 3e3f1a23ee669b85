import { setBackMsMax } from '../../engine/recovery/watch.ts'
import type { Operation } from './statements.ts'

/** `isSilent` of the watch, said in SQL of a lease row `l`; its parameter is what `setBackMsMax` answers. */
export const isSilent = 'holdfast_now() >= l.expires_at or l.expires_at > holdfast_now() + l.ttl_ms + ?'

const oneSilent = `select 1 from holdfast_lease l where ${isSilent} limit 1`

/** Whether a reclaim would find anything. */
export function anySilent({ query }: Operation, sweepMs: number): boolean {
  return query(oneSilent).get(setBackMsMax(sweepMs)) !== undefined
}
