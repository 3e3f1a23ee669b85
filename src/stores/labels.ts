import type { JobSpec } from '../engine/jobs/record.ts'
import { lineageOf } from '../engine/jobs/transitions.ts'

/** What few jobs have, as the one JSON text that SQL stores keep of it; null: none of it. */

type Labels = Pick<JobSpec, 'tenant' | 'keys' | 'lineage'>
const unlabelled: Labels = { tenant: null, keys: [], lineage: null }

export function labelsText({ tenant, keys, lineage }: JobSpec): string | null {
  if (tenant === null && keys.length === 0 && lineage === null) return null
  return JSON.stringify({ tenant, keys, lineage })
}

/** With whatever else is there. */
export function labelsOf(text: string | null): Labels {
  return text === null ? unlabelled : (JSON.parse(text) as Labels)
}

/** Of a row that replays another: the labels of the other, whatever they are, and its lineage. */
export function relabelled(labels: string | null, id: string): string {
  const kept = labelsOf(labels)
  return JSON.stringify({ ...kept, lineage: lineageOf({ id, lineage: kept.lineage }) })
}
