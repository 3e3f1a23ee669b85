import { tenantKey } from '../engine/jobs/keys.ts'
import type { JobRecord } from '../engine/jobs/record.ts'
import type { ListParams } from '../engine/ports/queries.ts'

/** What leads a listing through a database: the stores that read by index all choose alike. */

/** Jobs that are mostly few among many, and that are listed by themselves somewhere. */
export type SmallSet = 'waiting' | 'running' | 'dead'

/**
 * As many may wait, or be dead, for these to lead: they are read and sorted whole for each page. Of more of them a
 * page is soon found among all jobs.
 */
export const fewMax = 10_000

/** All keys of which a job must have every one. */
export function keysOf({ keys = [], tenant }: ListParams): readonly string[] {
  return typeof tenant === 'string' ? [...keys, tenantKey(tenant)] : keys
}

/** The sets that hold all that can be let through; none if there are no such. */
export function smallSetsOf({ dead, states }: ListParams): readonly SmallSet[] {
  if (dead === true) return ['dead']
  if (!states?.every((state) => state in setOfState)) return []
  return [...new Set(states)].flatMap((state) => setOfState[state] ?? [])
}

const setOfState: Partial<Record<JobRecord['state'], SmallSet>> = { queued: 'waiting', running: 'running' }
